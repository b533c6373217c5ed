import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unpackResult } from './packResult.js';
import { addForProgram, recordedBytes } from './publication.js';
import { UNTIMED } from './slowCopies.js';
import { UnsentResults } from './unsentResults.js';

it('a local scheduler records the size of every typed array, and of other results if their tasks took a millisecond', () => {
  assert.equal(recordedBytes(new Float64Array(100), 0), 800);
  assert.equal(recordedBytes([1, 2, 3], 2e-3), 24);
  assert.ok(Number.isNaN(recordedBytes([1, 2, 3], 0.5e-3)));
});

it('the parts of a large result that are the same, or views of one buffer, stay so here and for others', () => {
  const all = new Float64Array(20_000);
  const result = { all, same: [all], half: all.subarray(0, 10_000) };
  const unsent = new UnsentResults();
  const { kept } = addForProgram(unsent, UNTIMED, 0, result, true, Number.NaN);
  const { packed } = unsent.take();
  for (const value of [kept, unpackResult(packed.results[0]!)]) {
    const part = (name: string): unknown => Reflect.get(Object(value), name);
    const [one, half] = [part('all'), part('half')];
    assert.ok(one instanceof Float64Array && half instanceof Float64Array);
    assert.ok(one.buffer instanceof SharedArrayBuffer);
    assert.equal(half.buffer, one.buffer);
    assert.deepEqual(part('same'), [one]);
    assert.equal(Reflect.get(Object(part('same')), 0), one);
  }
});

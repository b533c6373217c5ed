import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHARE_BYTES, shareView } from './shareBuffers.js';

const KINDS = [
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  // Exists in Node 24 and later.
  'Float16Array',
].filter((name) => name in globalThis);

test('a large view keeps its class and its bytes on shared memory', () => {
  const bytes = Uint8Array.from({ length: SHARE_BYTES }, (_, at) => at % 120);
  for (const name of KINDS) {
    const view: unknown = Reflect.construct(Reflect.get(globalThis, name), [bytes.slice().buffer]);
    assert.ok(ArrayBuffer.isView(view));
    const copy = shareView(view);
    assert.ok(copy.buffer instanceof SharedArrayBuffer);
    assert.equal(Object.getPrototypeOf(copy), Object.getPrototypeOf(view));
    assert.deepEqual(new Uint8Array(copy.buffer), bytes);
  }
});

test('a large Buffer becomes a Uint8Array, and a subclass its typed array', () => {
  class Samples extends Float64Array {}
  const values = [Buffer.alloc(SHARE_BYTES), new Samples(SHARE_BYTES / 8)];
  const classes = values.map((value) => Object.getPrototypeOf(shareView(value)));
  assert.deepEqual(classes, [Uint8Array.prototype, Float64Array.prototype]);
});

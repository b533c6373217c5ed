import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import fc, { runs } from '../base/properties.test.support.js';
import type { DaskRow } from '../protocol/daskRows.js';
import { packValue, unpackValue } from '../trace/formats/dasf/msgpack.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { frameReader } from './bridgeProcess.js';
import { ClusterMirror } from './clusterMirror.js';

const recorded = gunzipSync(
  readFileSync(new URL('../../test/fixtures/dask/cluster.frames.gz', import.meta.url)),
);

function rowsOf(bytes: Uint8Array, size = bytes.length): DaskRow[] {
  const read = frameReader();
  const rows: DaskRow[] = [];
  for (let at = 0; at < bytes.length; at += size) rows.push(...read(bytes.subarray(at, at + size)));
  return rows;
}

/** Returns the recorded rows as the bridge wrote them. */
function rawRows(): unknown[][] {
  const rows: unknown[][] = [];
  for (let at = 0; at < recorded.length; at += 4 + recorded.readUInt32BE(at)) {
    const frame = recorded.subarray(at + 4, at + 4 + recorded.readUInt32BE(at));
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
    const value = unpackValue(frame, view, 0, frame.length);
    assert.ok(Array.isArray(value));
    rows.push(...value);
  }
  return rows;
}

function frameOf(rows: readonly unknown[]): Uint8Array {
  const payload = packValue(rows);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}

const OTHER_VALUES = [null, true, -1, 0.5, Number.NaN, 2 ** 60, '', 'x', [], [[]], {}];
/** Elements of a list whose values are replaced. Lists of keys have hundreds. */
const REPLACED = 20;

/** Returns copies of a value. In each, one value is another one, at any depth of its lists. */
function* withOtherValues(value: unknown): Generator<unknown> {
  yield* OTHER_VALUES;
  if (!Array.isArray(value)) return;
  yield value.slice(0, -1);
  for (const [index, element] of value.slice(0, REPLACED).entries())
    for (const other of withOtherValues(element)) yield value.with(index, other);
}

/** Reads damaged bytes, which must be valid rows or cause an error with a code. Returns whether the rows were valid. */
function survives(bytes: Uint8Array, mirror = new ClusterMirror([new LiveTrace()])): boolean {
  const read = frameReader();
  try {
    for (const row of read(bytes)) mirror.take(row);
    return true;
  } catch (error) {
    assert.ok(error instanceof LongpoleError, String(error));
    assert.equal(error.code, 'ERR_LONGPOLE_DASK_BRIDGE');
    return false;
  }
}

describe('the frames of the bridge', () => {
  it('are the same for pieces of any size', () => {
    const whole = rowsOf(recorded);
    assert.ok(whole.length > 300);
    assert.equal(whole[0]?.type, 'hello');
    assert.equal(whole.at(-1)?.type, 'closed');
    for (const size of [1, 3, 1000]) assert.deepEqual(rowsOf(recorded, size), whole);
  });

  it('are read up to an incomplete frame', () => {
    const ends = [0];
    while (ends.length < 4) ends.push(ends.at(-1)! + 4 + recorded.readUInt32BE(ends.at(-1)));
    for (let length = 0; length < ends.at(-1)!; length++) {
      const whole = ends.findLast((end) => end <= length);
      assert.deepEqual(rowsOf(recorded.subarray(0, length)), rowsOf(recorded.subarray(0, whole)));
    }
  });

  it('are accepted or rejected with a code if a value in a row of any type is another one', () => {
    const rows = rawRows();
    const types = new Set(rows.map(([type]) => type));
    let rejected = 0;
    for (const type of types) {
      const at = rows.findIndex(([first]) => first === type);
      const mirror = new ClusterMirror([new LiveTrace()]);
      for (const row of rowsOf(frameOf(rows.slice(0, at)))) mirror.take(row);
      for (const row of withOtherValues(rows[at]!)) if (!survives(frameOf([row]), mirror)) rejected++;
    }
    assert.ok(types.size > 12 && rejected > 1000, `${rejected} rejected rows of ${types.size} types`);
  });

  it('are accepted or rejected with a code after any change', () => {
    const change = fc.tuple(
      fc.integer({ min: 0, max: recorded.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const bytes = Uint8Array.from(recorded);
        for (const [at, flip] of changes) bytes[at]! ^= flip;
        survives(bytes);
      }),
      { numRuns: runs(120) },
    );
  });

  it('are rejected if they are other data', () => {
    for (const text of ['Traceback (most recent call last):\n', '\0\0\0\x05hello', '\xff\xff\xff\xff']) {
      assert.equal(survives(Buffer.from(text, 'latin1')), false, text);
    }
  });
});

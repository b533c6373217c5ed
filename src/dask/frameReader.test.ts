import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import fc, { runs } from '../base/properties.test.support.js';
import type { DaskRow } from '../protocol/daskRows.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { FrameReader } from './bridgeProcess.js';
import { ClusterMirror } from './clusterMirror.js';

const recorded = gunzipSync(
  readFileSync(new URL('../../test/fixtures/dask/cluster.frames.gz', import.meta.url)),
);

function rowsOf(bytes: Uint8Array, size = bytes.length): DaskRow[] {
  const reader = new FrameReader();
  const rows: DaskRow[] = [];
  for (let at = 0; at < bytes.length; at += size) rows.push(...reader.push(bytes.subarray(at, at + size)));
  return rows;
}

/** Reads damaged bytes, which must be valid rows or cause an error with a code. Returns whether the rows were valid. */
function survives(bytes: Uint8Array): boolean {
  const mirror = new ClusterMirror([new LiveTrace()]);
  const reader = new FrameReader();
  try {
    for (const row of reader.push(bytes)) mirror.take(row);
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
    fc.assert(
      fc.property(fc.integer({ min: 0, max: recorded.length }), (length) => {
        assert.ok(survives(recorded.subarray(0, length)));
      }),
      { numRuns: runs(20) },
    );
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

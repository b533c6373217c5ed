import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compressFrameSync } from 'lz4-napi';
import fc from '../../../base/properties.test.support.js';
import { DamagedBytes } from '../damage.js';
import { unpackLz4Frame } from './lz4Frame.js';

const packed = (bytes: Uint8Array, contentChecksum = false): Buffer =>
  compressFrameSync(Buffer.from(bytes), { contentChecksum });

function unpacked(frame: Uint8Array, size: number): Uint8Array {
  const result = new Uint8Array(size);
  unpackLz4Frame(frame, result);
  return result;
}

/** Runs, repetitions and noise, which give literals and matches of all lengths. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat(300)).map(([bytes, count]) => {
        return Uint8Array.from({ length: bytes.length * count }, (_, i) => bytes[i % bytes.length]!);
      }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));

describe('an LZ4 frame', () => {
  it('unpacks the output of the library', () => {
    fc.assert(
      fc.property(content, (bytes) => {
        assert.deepEqual(unpacked(packed(bytes), bytes.length), bytes);
        assert.deepEqual(unpacked(packed(bytes, true), bytes.length), bytes);
      }),
    );
    const large = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * i) >> ((i >> 12) & 7));
    assert.deepEqual(unpacked(packed(large, true), large.length), large);
  });

  it('that is damaged is rejected or fills the result', () => {
    fc.assert(
      fc.property(
        content,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.nat(),
        (bytes, flips, cut) => {
          const frame = Uint8Array.from(packed(bytes));
          for (const [at, value] of flips) frame[at % frame.length] = value;
          try {
            unpacked(frame.subarray(0, frame.length - (cut % 5)), bytes.length);
          } catch (error) {
            assert.ok(error instanceof DamagedBytes, String(error));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('with one changed byte of content is rejected by its checksum', () => {
    const noise = Uint8Array.from({ length: 5000 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 13);
    const frame = Uint8Array.from(packed(noise, true));
    frame[frame.length >> 1]! ^= 1;
    assert.throws(() => unpacked(frame, noise.length), DamagedBytes);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import fc from '../../base/properties.test.support.js';
import { noise } from '../../base/randomNumbers.test.support.js';
import type { Bytes } from '../../protocol/packedResult.js';
import { compressParts, decompress, decompressParts, PART_BYTES, pays } from './compression.js';

function bytesOf(array: Float64Array<ArrayBuffer>): Bytes {
  return new Uint8Array(array.buffer);
}

const rounded = (length: number): Bytes => bytesOf(noise(length).map((x) => Math.round(x * 10)));

describe('pays', () => {
  it('distinguishes bytes that shrink from bytes that do not', () => {
    assert.ok(pays(rounded(10_000)));
    assert.ok(!pays(bytesOf(noise(10_000))));
    assert.ok(!pays(new Uint8Array(9_999)), 'too few bytes');
  });

  it('samples all regions of the bytes, including the end', () => {
    const mixed = noise(50_000);
    mixed.fill(0, 0, 10_000);
    assert.ok(!pays(bytesOf(mixed)));
    mixed.fill(0, 10_000, 49_000);
    assert.ok(pays(bytesOf(mixed)));
  });
});

describe('compressParts', () => {
  it('returns parts that decompress to the same bytes, from shared memory or not', async () => {
    const large = new Uint8Array(new SharedArrayBuffer(2 * PART_BYTES + 13));
    large.set(rounded(2 * (PART_BYTES / 8)));
    for (const bytes of [large, rounded(5_000)]) {
      const parts = await compressParts(bytes);
      assert.equal(parts.length, Math.ceil(bytes.byteLength / PART_BYTES));
      assert.ok(parts.reduce((sum, part) => sum + part.bytes.byteLength, 0) < bytes.byteLength / 2);
      const back = new Uint8Array(bytes.byteLength);
      await decompressParts(parts, back);
      assert.deepEqual(back, Uint8Array.from(bytes));
    }
  });

  it('does not change a part that does not shrink', async () => {
    const mixed = new Uint8Array(2 * PART_BYTES);
    mixed.set(bytesOf(noise(PART_BYTES / 8)));
    const parts = await compressParts(mixed);
    assert.equal(parts[0]!.bytes.byteLength, PART_BYTES);
    assert.ok(parts[1]!.bytes.byteLength < PART_BYTES / 100);
    const back = new Uint8Array(mixed.byteLength);
    await decompressParts(parts, back);
    assert.deepEqual(back, mixed);
  });
});

describe('decompress', () => {
  it('refuses damaged parts with any stated length', async () => {
    const [first] = await compressParts(rounded(2_000));
    const part = first!;
    await fc.assert(
      fc.asyncProperty(fc.nat(200), fc.nat(255), fc.nat(part.bytes.byteLength), async (at, byte, length) => {
        const bytes = Uint8Array.from(part.bytes.subarray(0, length));
        if (at < length) bytes[at] = byte;
        try {
          await decompress({ bytes, nbytes: part.nbytes }, new Uint8Array(part.nbytes));
        } catch (error) {
          assert.ok(
            error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_RESULT_BYTES',
            String(error),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});

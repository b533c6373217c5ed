import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import fc from '../../base/properties.test.support.js';
import type { Frame } from '../../protocol/frames.js';
import {
  compressFrames,
  decompress,
  decompressFrames,
  PART_BYTES,
  pays,
  sampleRatio,
} from './compression.js';

function random(length: number): Float64Array<ArrayBuffer> {
  return Float64Array.from({ length }, Math.random);
}

function bytesOf(array: Float64Array<ArrayBuffer>): Frame {
  return new Uint8Array(array.buffer);
}

const rounded = (length: number): Frame => bytesOf(random(length).map((x) => Math.round(x * 10)));

describe('sampleRatio', () => {
  it('tells bytes that shrink from bytes that do not', () => {
    assert.ok(pays(rounded(10_000)));
    assert.ok(!pays(bytesOf(random(10_000))));
    assert.ok(sampleRatio(new Uint8Array(20_000)) < 0.05);
    assert.equal(sampleRatio(new Uint8Array(9_999)), 1);
  });

  it('looks everywhere, the end included', () => {
    const mixed = random(50_000);
    mixed.fill(0, 0, 10_000);
    assert.ok(!pays(bytesOf(mixed)));
    mixed.fill(0, 10_000, 49_000);
    assert.ok(pays(bytesOf(mixed)));
    assert.ok(sampleRatio(bytesOf(mixed)) > 0.15);
  });
});

describe('compressFrames', () => {
  it('gives back what it got, from shared memory or not', async () => {
    const large = new Uint8Array(new SharedArrayBuffer(2 * PART_BYTES + 13));
    large.set(rounded(2 * (PART_BYTES / 8)));
    const frames = { header: rounded(5_000), buffers: [large, bytesOf(random(20_000)), new Uint8Array()] };
    const packed = await compressFrames(frames);
    assert.deepEqual(
      packed.frames.map(({ parts }) => parts.length),
      [1, 3, 1, 1],
    );
    assert.ok(packed.nbytes < 160_000 + large.byteLength / 2);
    assert.ok(packed.seconds > 0);
    const back = await decompressFrames(packed);
    assert.deepEqual([back.header, ...back.buffers], [frames.header, ...frames.buffers]);
    assert.ok(back.buffers[0]!.buffer instanceof SharedArrayBuffer);
    assert.equal(back.buffers[1], frames.buffers[1]);
  });

  it('leaves a part that does not shrink as it is', async () => {
    const mixed = new Uint8Array(2 * PART_BYTES);
    mixed.set(bytesOf(random(PART_BYTES / 8)));
    const packed = await compressFrames({ header: mixed, buffers: [] }, () => true);
    const [first, second] = packed.frames[0]!.parts;
    assert.equal(first!.bytes.byteLength, PART_BYTES);
    assert.ok(second!.bytes.byteLength < PART_BYTES / 100);
    assert.deepEqual((await decompressFrames(packed)).header, mixed);
  });
});

describe('decompress', () => {
  it('refuses damaged parts, whatever they claim', async () => {
    const packed = await compressFrames({ header: rounded(2_000), buffers: [] });
    const part = packed.frames[0]!.parts[0]!;
    await fc.assert(
      fc.asyncProperty(fc.nat(200), fc.nat(255), fc.nat(part.bytes.byteLength), async (at, byte, length) => {
        const bytes = Uint8Array.from(part.bytes.subarray(0, length));
        if (at < length) bytes[at] = byte;
        try {
          await decompress({ bytes, nbytes: part.nbytes }, new Uint8Array(part.nbytes));
        } catch (error) {
          assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_FRAMES', String(error));
        }
      }),
      { numRuns: 300 },
    );
  });
});

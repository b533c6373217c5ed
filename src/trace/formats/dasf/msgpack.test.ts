import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../../base/properties.test.support.js';
import { exactIntegers, packValue, skipValue, unpackValue } from './msgpack.js';

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
/** Values that survive a round trip; the codec renames a field that would set a prototype. */
const value = fc
  .json({ maxDepth: 4 })
  .filter((json) => !json.includes('__proto__'))
  .map((json): unknown => JSON.parse(json.replaceAll('-0', '0')));

describe('skipValue', () => {
  it('finds the end of every value, and rejects every truncated value', () => {
    fc.assert(
      fc.property(value, (json) => {
        const bytes = Uint8Array.from([...packValue(json), 0xc1, 0xc1]);
        const end = bytes.length - 2;
        assert.equal(skipValue(bytes, viewOf(bytes), 0, bytes.length), end);
        for (let cut = 0; cut < end; cut++) assert.equal(skipValue(bytes, viewOf(bytes), 0, cut), -1);
        assert.deepEqual(unpackValue(bytes, viewOf(bytes), 0, end), json);
      }),
    );
  });

  it('supports all types', () => {
    for (const [bytes, what] of [
      [[0xc4, 1, 9], 'bin 8'],
      [[0xc5, 0, 1, 9], 'bin 16'],
      [[0xc6, 0, 0, 0, 1, 9], 'bin 32'],
      [[0xc7, 1, 5, 9], 'ext 8'],
      [[0xc8, 0, 1, 5, 9], 'ext 16'],
      [[0xc9, 0, 0, 0, 1, 5, 9], 'ext 32'],
      [[0xca, 0, 0, 0, 0], 'float 32'],
      [[0xd3, 0, 0, 0, 0, 0, 0, 0, 1], 'int 64'],
      [[0xd4, 1, 2], 'fixext 1'],
      [[0xd8, 1, ...new Array<number>(16).fill(0)], 'fixext 16'],
      [[0xd9, 1, 65], 'str 8'],
      [[0xda, 0, 1, 65], 'str 16'],
      [[0xdb, 0, 0, 0, 1, 65], 'str 32'],
      [[0xdc, 0, 1, 1], 'array 16'],
      [[0xdd, 0, 0, 0, 1, 1], 'array 32'],
      [[0xde, 0, 1, 1, 1], 'map 16'],
      [[0xdf, 0, 0, 0, 1, 1, 1], 'map 32'],
    ] as const) {
      const array = Uint8Array.from(bytes);
      assert.equal(skipValue(array, viewOf(array), 0, array.length), array.length, what);
      assert.equal(skipValue(array, viewOf(array), 0, array.length - 1), -1, `${what}, cut`);
    }
  });

  it('rejects lengths beyond the bytes, and values that are nested too deeply', () => {
    const huge = Uint8Array.from([0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1]);
    assert.equal(skipValue(huge, viewOf(huge), 0, huge.length), -1);
    const deep = new Uint8Array(100_000).fill(0x91);
    assert.equal(skipValue(deep, viewOf(deep), 0, deep.length), -1);
  });
});

it('unpackValue returns for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      unpackValue(bytes, viewOf(bytes), 0, bytes.length);
    }),
    { numRuns: 2000 },
  );
});

it('integers beyond 32 bits are preserved', () => {
  for (const bytes of [5e9, 2 ** 53 - 1, -(2 ** 40), 2 ** 32 - 1, 0.5]) {
    const packed = Uint8Array.from(packValue(exactIntegers({ bytes })));
    assert.notEqual(packed[7], Number.isInteger(bytes) ? 0xcb : 0);
    assert.deepEqual(unpackValue(packed, viewOf(packed), 0, packed.length), { bytes });
  }
});

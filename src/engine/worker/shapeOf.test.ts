import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeOf } from './shapeOf.js';

test('typed arrays, nested arrays and objects with `shape` have a shape; other values have none', () => {
  class Matrix {
    get shape(): Int32Array {
      return Int32Array.of(5, 7);
    }
  }
  const cases: [unknown, number[]][] = [
    [new Float64Array(5000), [5000]],
    [Buffer.alloc(3), [3]],
    [new DataView(new ArrayBuffer(8)), []],
    [[1, 2, 3], [3]],
    [[], [0]],
    [
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      [3, 2],
    ],
    [
      [
        [[1], [2]],
        [[3], [4]],
      ],
      [2, 2, 1],
    ],
    [
      [new Float32Array(4), new Float32Array(4)],
      [2, 4],
    ],
    [[[1, 2], [3]], [2]],
    [[[1, 2], 3], [2]],
    [[[[[[1]]]]], [1, 1, 1, 1]],
    [{ shape: [10, 2], data: new Float64Array(20) }, [10, 2]],
    [new Matrix(), [5, 7]],
    [{ shape: 'round' }, []],
    [{ shape: [1, -2] }, []],
    [{ shape: [1.5] }, []],
    [{ shape: [1, 1, 1, 1, 1] }, []],
    [
      {
        get shape(): never {
          throw new Error('no shape');
        },
      },
      [],
    ],
    [new Map([['shape', [1]]]), []],
    ...[undefined, null, 5, 'text', true, 5n].map((value): [unknown, number[]] => [value, []]),
  ];
  for (const [value, shape] of cases) assert.deepEqual(shapeOf(value), shape, String(shape));
});

test('a cyclic array ends, and one with very many parts has its outer length', () => {
  const cyclic: unknown[] = [];
  for (let i = 0; i < 1000; i++) cyclic.push(cyclic);
  assert.deepEqual(shapeOf(cyclic)[0], 1000);
  assert.deepEqual(shapeOf(Array.from({ length: 200_000 }, () => [1, 2])), [200_000]);
});

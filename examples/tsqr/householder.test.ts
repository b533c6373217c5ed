import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type QR, qr, qrOfTriangles } from './householder.js';
import { type Matrix, multiply, randomMatrix, squaredError, zeros } from './matrix.js';

function relativeError(a: Matrix, b: Matrix): number {
  const { error, norm } = squaredError(a, b);
  return Math.sqrt(error / norm);
}

function transpose(a: Matrix): Matrix {
  const result = zeros(a.columns, a.rows);
  for (let j = 0; j < a.columns; j++) {
    for (let i = 0; i < a.rows; i++) result.data[j + i * a.columns] = a.data[i + j * a.rows]!;
  }
  return result;
}

function identity(size: number): Matrix {
  const result = zeros(size, size);
  for (let i = 0; i < size; i++) result.data[i + i * size] = 1;
  return result;
}

function assertFactors(a: Matrix, { q, r }: QR): void {
  assert.ok(relativeError(multiply(q, r), a) < 1e-13, 'q · r = a');
  assert.ok(relativeError(multiply(transpose(q), q), identity(a.columns)) < 1e-13, 'qᵀ · q = 1');
  for (let j = 0; j < r.columns; j++) {
    for (let i = j + 1; i < r.rows; i++) assert.equal(r.data[i + j * r.rows], 0);
  }
}

test('multiplies by the definition, also with odd shapes', () => {
  for (const [m, n, p] of [
    [1, 1, 1],
    [3, 5, 2],
    [4, 4, 4],
    [7, 9, 3],
  ] as const) {
    const a = randomMatrix(m, n, 1);
    const b = randomMatrix(n, p, 2);
    const expected = zeros(m, p);
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < p; j++) {
        for (let k = 0; k < n; k++) expected.data[i + j * m]! += a.data[i + k * m]! * b.data[k + j * n]!;
      }
    }
    assert.ok(relativeError(multiply(a, b), expected) < 1e-15);
  }
});

for (const [rows, columns] of [
  [1, 1],
  [5, 3],
  [40, 37],
  [100, 100],
  [150, 70],
] as const) {
  test(`QR of a random ${rows} x ${columns} matrix`, () => {
    const a = randomMatrix(rows, columns, 7);
    assertFactors(a, qr(a));
  });
}

test('a matrix with a column of zeros is factorised', () => {
  const a = zeros(4, 2);
  a.data.set([1, 2, 3, 4]);
  const { q, r } = qr(a);
  assert.ok(relativeError(multiply(q, r), a) < 1e-15);
});

test('QR of stacked triangles', () => {
  const triangles = [1, 2, 3].map((seed) => qr(randomMatrix(60, 45, seed)).r);
  const { blocks, r } = qrOfTriangles(triangles);
  for (const [t, triangle] of triangles.entries()) {
    assert.ok(relativeError(multiply(blocks[t]!, r), triangle) < 1e-13);
  }
  const gram = zeros(45, 45);
  for (const block of blocks) {
    const part = multiply(transpose(block), block);
    for (let i = 0; i < gram.data.length; i++) gram.data[i]! += part.data[i]!;
  }
  assert.ok(relativeError(gram, identity(45)) < 1e-13);
});

test('equal seeds give equal matrices, different seeds different ones', () => {
  assert.deepEqual(randomMatrix(4, 3, 5), randomMatrix(4, 3, 5));
  assert.notDeepEqual(randomMatrix(4, 3, 5), randomMatrix(4, 3, 6));
});

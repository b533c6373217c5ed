// QR by Householder reflections: a = q · r with orthonormal columns in q and r upper triangular. Reflectors are created
// in panels of 32 columns. A panel has at most 256 KB for 1,000 rows and stays in the second-level cache. Its
// reflectors are applied to four other columns at a time, which stay in the first-level cache.
import { type Matrix, zeros } from './matrix.js';

export interface QR {
  readonly q: Matrix;
  readonly r: Matrix;
}

const PANEL = 32;

/** Returns the QR factors of a matrix with at least as many rows as columns. q has the shape of `a`. */
export function qr(a: Matrix): QR {
  return factorise(a, () => a.rows);
}

/**
 * Returns the QR factors of stacked square upper triangular matrices, for the second step of a tall-skinny QR. q is
 * divided into one square block per matrix. Skipping the zeros reduces the work to a third of a dense QR.
 */
export function qrOfTriangles(triangles: readonly Matrix[]): {
  readonly blocks: readonly Matrix[];
  readonly r: Matrix;
} {
  const count = triangles.length;
  const size = triangles[0]?.rows ?? 0;
  // Row i of triangle t becomes row i * count + t, so that the nonzero elements of column k are adjacent.
  const stack = zeros(size * count, size);
  for (const [t, { data }] of triangles.entries()) {
    for (let k = 0; k < size; k++) {
      for (let i = 0; i <= k; i++) stack.data[i * count + t + k * stack.rows] = data[i + k * size]!;
    }
  }
  const { q, r } = factorise(stack, (k) => (k + 1) * count);
  const blocks = triangles.map((_, t) => {
    const block = zeros(size, size);
    for (let k = 0; k < size; k++) {
      for (let i = 0; i <= k; i++) block.data[i + k * size] = q.data[i * count + t + k * q.rows]!;
    }
    return block;
  });
  return { blocks, r };
}

/** Factorises a matrix. `endOf(k)`: row after the last nonzero element of column k; it never decreases with k. */
function factorise(a: Matrix, endOf: (column: number) => number): QR {
  const { rows, columns } = a;
  // Column k holds r above the diagonal and reflector k from the diagonal down. The diagonal of r is in `r`.
  const work = { rows, columns, data: a.data.slice() };
  const r = zeros(columns, columns);
  const scales = new Float64Array(columns);
  for (let panel = 0; panel < columns; panel += PANEL) {
    const end = Math.min(panel + PANEL, columns);
    for (let k = panel; k < end; k++) {
      scales[k] = makeReflector(work, k, endOf(k), r);
      reflect(work, scales, k, k + 1, endOf, work, k + 1, end);
    }
    for (let j = end; j < columns; j += 4)
      reflect(work, scales, panel, end, endOf, work, j, Math.min(j + 4, columns));
  }
  for (let j = 0; j < columns; j++) {
    for (let i = 0; i < j; i++) r.data[i + j * columns] = work.data[i + j * rows]!;
  }
  return { q: formQ(work, scales, endOf), r };
}

/** Turns column k, from the diagonal down, into v with (1 - s v vᵀ) · column = (±norm, 0, …, 0). Returns s. */
function makeReflector(work: Matrix, k: number, end: number, r: Matrix): number {
  const { data, rows } = work;
  const start = k * rows;
  let sum = 0;
  for (let i = k; i < end; i++) sum += data[start + i]! * data[start + i]!;
  const first = data[start + k]!;
  // This sign increases |v₀|, so that no digits are lost by subtraction.
  const norm = first > 0 ? -Math.sqrt(sum) : Math.sqrt(sum);
  r.data[k + k * r.rows] = norm;
  data[start + k] = first - norm;
  const square = sum - first * first + (first - norm) * (first - norm);
  return square === 0 ? 0 : 2 / square;
}

/** Applies reflectors [from, to), in this order, to columns [left, right) of `target`. */
function reflect(
  work: Matrix,
  scales: Float64Array,
  from: number,
  to: number,
  endOf: (column: number) => number,
  target: Matrix,
  left: number,
  right: number,
): void {
  for (let k = from; k < to; k++) {
    let j = left;
    for (; j + 4 <= right; j += 4) reflectFour(work, k, endOf(k), scales[k]!, target, j);
    for (; j < right; j++) reflectOne(work, k, endOf(k), scales[k]!, target, j);
  }
}

function reflectFour(
  work: Matrix,
  k: number,
  end: number,
  scale: number,
  target: Matrix,
  column: number,
): void {
  const v = work.data;
  const c = target.data;
  const { rows } = work;
  const at = k * rows;
  const c0 = column * rows;
  const c1 = c0 + rows;
  const c2 = c1 + rows;
  const c3 = c2 + rows;
  let dot0 = 0;
  let dot1 = 0;
  let dot2 = 0;
  let dot3 = 0;
  for (let i = k; i < end; i++) {
    const x = v[at + i]!;
    dot0 += x * c[c0 + i]!;
    dot1 += x * c[c1 + i]!;
    dot2 += x * c[c2 + i]!;
    dot3 += x * c[c3 + i]!;
  }
  dot0 *= scale;
  dot1 *= scale;
  dot2 *= scale;
  dot3 *= scale;
  for (let i = k; i < end; i++) {
    const x = v[at + i]!;
    c[c0 + i]! -= x * dot0;
    c[c1 + i]! -= x * dot1;
    c[c2 + i]! -= x * dot2;
    c[c3 + i]! -= x * dot3;
  }
}

function reflectOne(
  work: Matrix,
  k: number,
  end: number,
  scale: number,
  target: Matrix,
  column: number,
): void {
  const v = work.data;
  const c = target.data;
  const at = k * work.rows;
  const to = column * work.rows;
  let dot = 0;
  for (let i = k; i < end; i++) dot += v[at + i]! * c[to + i]!;
  dot *= scale;
  for (let i = k; i < end; i++) c[to + i]! -= v[at + i]! * dot;
}

/** Returns the first columns of H₀ H₁ … Hₙ₋₁. The reflectors are applied to unit columns from the last to the first. */
function formQ(work: Matrix, scales: Float64Array, endOf: (column: number) => number): Matrix {
  const { rows, columns } = work;
  const q = zeros(rows, columns);
  for (let j = 0; j < columns; j++) q.data[j + j * rows] = 1;
  for (let end = columns; end > 0; end -= PANEL) {
    const panel = Math.max(0, end - PANEL);
    // Reflector k does not change unit columns before k.
    for (let j = panel; j < columns; j += 4) {
      for (let k = end - 1; k >= panel; k--) {
        reflect(work, scales, k, k + 1, endOf, q, j, Math.min(j + 4, columns));
      }
    }
  }
  return q;
}

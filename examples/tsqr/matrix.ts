// Dense matrices of doubles, stored by columns in one Float64Array: element (i, j) is data[i + j * rows].

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

export function zeros(rows: number, columns: number): Matrix {
  return { rows, columns, data: new Float64Array(rows * columns) };
}

/** Returns a matrix of uniform numbers in [0, 1), equal for equal seeds on every machine (mulberry32). */
export function randomMatrix(rows: number, columns: number, seed: number): Matrix {
  const matrix = zeros(rows, columns);
  const { data } = matrix;
  let state = Math.imul(seed + 1, 0x9e3779b1);
  for (let i = 0; i < data.length; i++) {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    data[i] = ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  }
  return matrix;
}

/**
 * Returns a · b. Processes four columns of `a` for two columns of the result at a time, so that each number from `a` is
 * loaded once for two uses. A tile of eight zero factors is skipped, which halves the work for a triangular `b`.
 */
export function multiply(a: Matrix, b: Matrix): Matrix {
  const c = zeros(a.rows, b.columns);
  for (let j = 0; j < b.columns; j += 2) {
    for (let k = 0; k < a.columns; k += 4) addTile(a, b, c, j, k);
  }
  return c;
}

function addTile(a: Matrix, b: Matrix, c: Matrix, j: number, k: number): void {
  const factor = (down: number, right: number): number =>
    k + down < b.rows && j + right < b.columns ? b.data[k + down + (j + right) * b.rows]! : 0;
  const f00 = factor(0, 0);
  const f10 = factor(1, 0);
  const f20 = factor(2, 0);
  const f30 = factor(3, 0);
  const f01 = factor(0, 1);
  const f11 = factor(1, 1);
  const f21 = factor(2, 1);
  const f31 = factor(3, 1);
  if (f00 === 0 && f10 === 0 && f20 === 0 && f30 === 0 && f01 === 0 && f11 === 0 && f21 === 0 && f31 === 0)
    return;
  const from = a.data;
  const to = c.data;
  const { rows } = a;
  // Columns beyond the edge have the factor 0, so any column may replace them.
  const last = a.columns - 1;
  const k0 = k * rows;
  const k1 = Math.min(k + 1, last) * rows;
  const k2 = Math.min(k + 2, last) * rows;
  const k3 = Math.min(k + 3, last) * rows;
  const c0 = j * rows;
  if (j + 1 === b.columns) {
    for (let i = 0; i < rows; i++) {
      to[c0 + i]! += from[k0 + i]! * f00 + from[k1 + i]! * f10 + (from[k2 + i]! * f20 + from[k3 + i]! * f30);
    }
    return;
  }
  const c1 = c0 + rows;
  for (let i = 0; i < rows; i++) {
    const a0 = from[k0 + i]!;
    const a1 = from[k1 + i]!;
    const a2 = from[k2 + i]!;
    const a3 = from[k3 + i]!;
    to[c0 + i]! += a0 * f00 + a1 * f10 + (a2 * f20 + a3 * f30);
    to[c1 + i]! += a0 * f01 + a1 * f11 + (a2 * f21 + a3 * f31);
  }
}

/**
 * Returns Σ (a - b)² and Σ b². The sums of several blocks may be added, to compute the relative error of the whole
 * matrix.
 */
export function squaredError(a: Matrix, b: Matrix): { error: number; norm: number } {
  let error = 0;
  let norm = 0;
  for (let i = 0; i < b.data.length; i++) {
    const value = b.data[i]!;
    const difference = a.data[i]! - value;
    error += difference * difference;
    norm += value * value;
  }
  return { error, norm };
}

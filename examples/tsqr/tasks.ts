// The functions that run on the workers. Every isolate imports this module and finds the functions by name.
import { tasks } from 'longpole';
import { type QR, qr, qrOfTriangles } from './householder.js';
import { type Matrix, multiply, randomMatrix, squaredError } from './matrix.js';

export const { random, blockQR, takeQ, takeR, combine, takeBlock, dot, compare, relativeError } = tasks(
  import.meta.url,
  {
    random(rows: number, columns: number, seed: number): Matrix {
      return randomMatrix(rows, columns, seed);
    },
    blockQR(block: Matrix): QR {
      return qr(block);
    },
    takeQ(factors: QR): Matrix {
      return factors.q;
    },
    takeR(factors: { readonly r: Matrix }): Matrix {
      return factors.r;
    },
    combine(triangles: readonly Matrix[]): { readonly blocks: readonly Matrix[]; readonly r: Matrix } {
      return qrOfTriangles(triangles);
    },
    takeBlock(combined: { readonly blocks: readonly Matrix[] }, index: number): Matrix {
      const block = combined.blocks[index];
      if (block === undefined) throw new RangeError(`There is no block ${index}.`);
      return block;
    },
    dot(a: Matrix, b: Matrix): Matrix {
      return multiply(a, b);
    },
    compare(product: Matrix, original: Matrix): { error: number; norm: number } {
      return squaredError(product, original);
    },
    relativeError(parts: readonly { readonly error: number; readonly norm: number }[]): number {
      let error = 0;
      let norm = 0;
      for (const part of parts) {
        error += part.error;
        norm += part.norm;
      }
      return Math.sqrt(error / norm);
    },
  },
);

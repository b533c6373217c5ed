import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nbytes, roughBytes, sizeOf } from './sizeOf.js';

describe('nbytes', () => {
  it('is exact for binary data', () => {
    assert.equal(nbytes(new Float64Array(1000)), 8000);
    assert.equal(nbytes(new Float32Array(new ArrayBuffer(400), 8, 10)), 40);
    assert.equal(nbytes(new ArrayBuffer(12)), 12);
    assert.equal(nbytes(new SharedArrayBuffer(16)), 16);
    assert.equal(nbytes(Buffer.from('häh')), 4);
    assert.equal(nbytes(new DataView(new ArrayBuffer(8), 2)), 6);
  });

  it('counts primitives by their payload', () => {
    assert.equal(nbytes('latin é'), 7);
    assert.equal(nbytes('日本'), 4);
    assert.equal(nbytes(1.5), 8);
    assert.equal(nbytes(true), 4);
    assert.equal(nbytes(2n ** 64n), 16);
    for (const nothing of [null, undefined, Symbol('s'), () => 1]) assert.equal(nbytes(nothing), 0);
  });

  it('sums containers', () => {
    assert.equal(nbytes([1, 2, [3]]), 24);
    assert.equal(nbytes({ ab: 1, c: 'xyz' }), 2 + 8 + 1 + 3);
    assert.equal(nbytes(new Map([['k', new Uint8Array(10)]])), 11);
    assert.equal(nbytes(new Set([1, 2])), 16);
    assert.equal(nbytes(new Date()), 8);
    assert.equal(nbytes({ nbytes: 1000 }), 6 + 8);
  });

  it('uses the `nbytes` of class instances', () => {
    class Frame {
      readonly nbytes = 123;
    }
    assert.equal(nbytes([new Frame(), new Frame()]), 246);
  });

  it('counts each object once, so that cycles end', () => {
    const shared = new Uint8Array(100);
    const loop: unknown[] = [shared, shared];
    loop.push(loop);
    assert.equal(nbytes(loop), 100);
  });

  it('does not call getters', () => {
    const trap = {
      get bytes(): number {
        throw new Error('called');
      },
    };
    assert.equal(nbytes(trap), 5);
  });

  it('samples huge containers', () => {
    const near = (value: unknown, expected: number): void =>
      assert.ok(
        Math.abs(nbytes(value) - expected) <= expected / 100,
        `${nbytes(value)} is not near ${expected}`,
      );
    const names = Array.from({ length: 100_000 }, (_, i) => `k${String(i).padStart(7, '0')}`);
    near(names, 800_000);
    near(new Set(names), 800_000);
    near(new Map(names.map((name) => [name, 1])), 1_600_000);
    near(Object.fromEntries(names.map((name) => [name, [1, 2]])), 2_400_000);
  });

  it('does not overflow the stack on a long list', () => {
    let list: { next: unknown } = { next: null };
    for (let i = 0; i < 100_000; i++) list = { next: list };
    assert.equal(nbytes(list), 4 * 100_001);
  });
});

describe('sizeOf', () => {
  it('equals nbytes up to the limit, and is larger than the limit for larger values', () => {
    const values = [
      1,
      'abc',
      '日本',
      null,
      new Uint8Array(50),
      [1, 'x', { a: [true] }],
      new Map([['k', 3n]]),
    ];
    for (const value of values) {
      const size = nbytes(value);
      assert.equal(sizeOf(value, size), size);
      if (size > 0) assert.ok(sizeOf(value, size - 1) >= size);
    }
  });

  it('stops measuring above the limit', () => {
    let visited = 0;
    const counting = {
      get nbytes(): number {
        visited += 1;
        return 100;
      },
    };
    class Counted {
      readonly inner = counting;
      get nbytes(): number {
        return this.inner.nbytes;
      }
    }
    const parts = Array.from({ length: 900 }, () => new Counted());
    assert.equal(nbytes(parts), 90_000);
    visited = 0;
    assert.ok(sizeOf(parts, 1000) > 1000);
    assert.ok(visited < 50, `${visited} parts were measured`);
  });
});

describe('roughBytes', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `row ${i % 10}`, x: i }));

  it('estimates containers of equal parts, however many there are', () => {
    for (const count of [10, 1000, 300_000]) {
      const value = rows(count);
      assert.ok(Math.abs(roughBytes(value) / (count * 18) - 1) < 0.05, String(roughBytes(value)));
      const map = new Map(value.map((row, i) => [i, row]));
      assert.ok(Math.abs(roughBytes(map) / (count * 26) - 1) < 0.05, String(roughBytes(map)));
    }
    assert.equal(roughBytes(new Float64Array(1000)), 8000);
    assert.equal(roughBytes('x'.repeat(1000)), 1000);
  });

  it('reads no more than the first entries of a Map', () => {
    let read = 0;
    class Watched extends Map<number, number> {
      override *entries(): MapIterator<[number, number]> {
        for (const entry of super.entries()) {
          read++;
          yield entry;
        }
      }
    }
    roughBytes(new Watched(Array.from({ length: 5000 }, (_, i) => [i, i])));
    assert.ok(read > 0 && read < 50, String(read));
  });

  it('is unknown for a value with too many levels', () => {
    const nested = (levels: number): unknown =>
      levels === 0 ? 1 : Array.from({ length: 10 }, () => nested(levels - 1));
    assert.equal(roughBytes(nested(2)), 800);
    assert.ok(Number.isNaN(roughBytes(nested(4))));
  });
});

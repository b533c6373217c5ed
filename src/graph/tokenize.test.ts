import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongpoleError } from '../base/errors.js';
import { Delayed } from './delayed.js';
import { literal } from './literal.js';
import { tokenize } from './tokenize.js';

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
}

class Place {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
}

const closureOver = (value: number) => (): number => value;

/** Functions that return distinct values. */
const DISTINCT: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => false,
  () => true,
  () => 0,
  () => -0,
  () => 1,
  () => 1.5,
  () => Number.NaN,
  () => Infinity,
  () => 2 ** 31,
  () => 0n,
  () => 1n,
  () => -1n,
  () => '',
  () => '0',
  () => 'null',
  () => 'ab',
  () => 'é',
  () => Symbol.for('a'),
  () => [],
  () => [[]],
  () => [1, 2],
  () => [2, 1],
  () => [1, [2]],
  () => [[1], 2],
  () => new Array(1),
  () => [undefined],
  () => ({}),
  () => ({ a: 1 }),
  () => ({ a: undefined }),
  () => ({ b: 1 }),
  () => ({ a: 1, b: 2 }),
  () => ({ a: 2, b: 1 }),
  () => ({ ab: 1 }),
  () => new Map(),
  () => new Map([['a', 1]]),
  () =>
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  () =>
    new Map([
      ['b', 2],
      ['a', 1],
    ]),
  () => new Set(),
  () => new Set([1, 2]),
  () => new Set([2, 1]),
  () => new Date(0),
  () => new Date(1),
  () => new Date(Number.NaN),
  () => /a/,
  () => /a/g,
  () => new Uint8Array([1, 2, 3]),
  () => new Uint8Array([1, 2, 4]),
  () => new Int8Array([1, 2, 3]),
  () => new Float64Array([1, 2]),
  () => new Float32Array([1, 2]),
  () => new DataView(new ArrayBuffer(3)),
  () => new ArrayBuffer(3),
  () => new ArrayBuffer(4),
  () => new SharedArrayBuffer(4),
  () => new Error('a'),
  () => new TypeError('a'),
  () => new Error('a', { cause: 1 }),
  () => new Number(1),
  () => new Point(1),
  () => new Point(2),
  () => new Place(1),
  () => (a: number) => a + 1,
  () => (a: number) => a + 2,
  () => Math.max,
  () => Math.min,
  () => new Delayed('key-1', Math.max, []),
  () => new Delayed('key-2', Math.max, []),
  () => literal('key-1'),
];

test('equal values give equal tokens, and different values give different tokens', () => {
  const seen = new Map<string, string>();
  for (const make of DISTINCT) {
    const token = tokenize(make());
    assert.match(token, /^[0-9a-f]{32}$/);
    assert.equal(tokenize(make()), token, `twice: ${make}`);
    assert.equal(seen.get(token), undefined, `${make} has the token of another value`);
    seen.set(token, String(make));
  }
});

test('the order of properties does not change the token, and the order of arguments does', () => {
  assert.equal(tokenize({ a: 1, b: [2] }), tokenize({ b: [2], a: 1 }));
  assert.notEqual(tokenize(1, 2), tokenize(2, 1));
  assert.notEqual(tokenize('a', 'b'), tokenize('ab', ''));
  assert.notEqual(tokenize([1], 2), tokenize([1, 2]));
});

test('the token of a view depends only on its part of the buffer', () => {
  const buffer = new Uint8Array([9, 1, 2, 3, 9]).buffer;
  assert.equal(tokenize(new Uint8Array(buffer, 1, 3)), tokenize(new Uint8Array([1, 2, 3])));
});

test('a closure equals only itself, because its text does not contain its variables', () => {
  const three = closureOver(3);
  assert.equal(tokenize(three), tokenize(three));
  assert.notEqual(tokenize(three), tokenize(closureOver(3)));
  assert.notEqual(tokenize(three), tokenize(closureOver(4)));
});

test('tokens are the same in every process', () => {
  assert.equal(tokenize('x', 1, { a: [true, 0.5] }), '154e2ec4e142afd9715ea6724883e879');
});

test('no two of many small inputs collide', () => {
  const tokens = new Set<string>();
  for (let a = 0; a < 200; a++) for (let b = 0; b < 200; b++) tokens.add(tokenize(a, b / 4));
  assert.equal(tokens.size, 40_000);
});

test('a value that cannot be compared is refused', () => {
  const values = [Promise.resolve(1), new WeakMap(), Symbol('own'), new URL('http://a/'), [new WeakSet()]];
  for (const value of values) {
    assert.throws(
      () => tokenize(value),
      (error) => error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_NOT_CLONEABLE',
    );
  }
});

test('a value that contains itself is refused', () => {
  const cyclic: unknown[] = [];
  cyclic.push({ cyclic });
  assert.throws(
    () => tokenize(cyclic),
    (error) => error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_GRAPH',
  );
});

test('an array that a value holds twice is tokenized once, and equal values have equal tokens', () => {
  const doubled = (levels: number, value: number): unknown => {
    let list: unknown = [value];
    for (let level = 0; level < levels; level++) list = [list, list];
    return list;
  };
  assert.equal(tokenize(doubled(60, 1)), tokenize(doubled(60, 1)));
  assert.notEqual(tokenize(doubled(60, 1)), tokenize(doubled(60, 2)));
  const copied: unknown = JSON.parse(JSON.stringify(doubled(17, 1)));
  assert.equal(tokenize(doubled(17, 1)), tokenize(copied));
});

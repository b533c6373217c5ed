import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import * as builtIns from './builtIns.js';

const { isPlainObject, ...checks } = builtIns;

/** Returns the names of the checks that recognise a value. */
const recognised = (value: unknown): string[] =>
  Object.entries(checks).flatMap(([name, check]) => (check(value) ? [name] : []));

test('built-in objects of any realm are recognised, also instances of subclasses with a tag of their own', () => {
  const classes = ['Map', 'Set', 'Date', 'RegExp', 'Promise', 'ArrayBuffer', 'SharedArrayBuffer'];
  for (const name of classes) {
    const value = name === 'Promise' ? 'Promise.resolve()' : `new ${name}(1)`.replace(/(Map|Set)\(1/, '$1(');
    const own = `Reflect.construct(class Own extends ${name} { get [Symbol.toStringTag]() { return 'Own'; } },
      ${name === 'Promise' ? '[() => undefined]' : '[]'})`;
    assert.deepEqual(recognised(runInNewContext(value)), [`is${name}`]);
    assert.deepEqual(recognised(new Function(`return ${own}`)()), [`is${name}`]);
  }
});

test('objects with the tag of a built-in object are none', () => {
  class Tagged {
    get [Symbol.toStringTag]() {
      return 'Map';
    }
  }
  const values = ['Map', 'Set', 'Date', 'Promise'].map((tag) => ({ [Symbol.toStringTag]: tag }));
  for (const value of [...values, new Tagged(), null, undefined, 1, 'Map'])
    assert.deepEqual(recognised(value), []);
});

test('plain objects are literals of any realm and objects without a prototype, not instances of a class that extends null', () => {
  const Bare = runInNewContext('(class extends null {})');
  const values = [{}, runInNewContext('({})'), Object.create(null), Object.create(Bare.prototype), new Map()];
  assert.deepEqual(
    values.map((value) => isPlainObject(value)),
    [true, true, true, false, false],
  );
});

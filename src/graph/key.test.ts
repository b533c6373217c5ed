import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongpoleError } from '../base/errors.js';
import { keySplit } from '../base/keySplit.js';
import { key } from './key.js';

/** Results of `key_split` in Dask 2026.8. */
const RECORDED_PREFIXES: readonly (readonly [key: string, prefix: string])[] = [
  ['x', 'x'],
  ['x-1', 'x'],
  ['x-1-2-3', 'x'],
  ["('x-2', 1)", 'x'],
  ["('x', 1)", 'x'],
  ['hello-world-1', 'hello-world'],
  ['ae05086432ca935f6eba409a8ecd4896', 'data'],
  ['<module.submodule.myclass object at 0xdaf372', 'myclass'],
  ['x-abcdefab', 'x'],
  ['_(x)', 'x'],
  ['inc-2f6c8a10-71c2-4c11-9b3e-aa0b1c2d3e4f', 'inc'],
  ['inc-2f6c8a1071c24c119b3eaa0b1c2d3e4f', 'inc'],
  ["('x-123abc', 0)", 'x'],
  ["('x', 0, 1)", 'x'],
  ['', 'Other'],
  ['-', 'Other'],
  ['-x', 'Other'],
  ['x-', 'x'],
  ['x--y', 'x'],
  ["('", 'Other'],
  ["(','", 'Other'],
  ['<', 'Other'],
  ['<>', 'Other'],
  ['<a', 'a'],
  ['< >', 'Other'],
  ['<a.b.c>', 'c'],
  ['<lambda>-12', 'lambda'],
  ['<function f at 0x7f>-1', 'function'],
  ['sum-tree-abcdefgh', 'sum-tree'],
  ['sum-tree-gbcdefgh', 'sum-tree-gbcdefgh'],
  ['sum-ABCDEFGH-x', 'sum-ABCDEFGH-x'],
  ['sum-abcdefgh-x', 'sum'],
  ['sum-abcdefg-x', 'sum-abcdefg-x'],
  ['sum-abcdefghi-x', 'sum-abcdefghi-x'],
  ['x-\u00e9-1', 'x-\u00e9'],
  ['\u00e9-1', '\u00e9'],
  ['x-\u00e9abcdefg', 'x-\u00e9abcdefg'],
  ['x-abcdef\u00e91', 'x'],
  ['x-abcdefg\u00e9', 'x'],
  ['-1', 'Other'],
  ['1-x', '1-x'],
  ['1', '1'],
  ['_-x', '-x'],
  ['__init__-1', 'init'],
  ['_load-12', 'load'],
  ['(1, 2)', '1'],
  ["(1, 'x')", '1'],
  ['[1]-2', '[1]'],
  ['"x"-1', 'x'],
  ["('read-csv-abc123', 3)", 'read-csv'],
  ['read-csv-abc-def', 'read-csv-abc-def'],
  ["('a,b-1', 0)", 'a'],
  ['a,b-1', 'a,b'],
  ["a'b-c", "a'b-c"],
  ["('a'b-c", "a'b-c"],
  ['ae05086432ca935f6eba409a8ecd489-x', 'ae05086432ca935f6eba409a8ecd489-x'],
  ['ae05086432ca935f6eba409a8ecd4896-x', 'ae05086432ca935f6eba409a8ecd4896-x'],
  ['AE05086432CA935F6EBA409A8ECD4896', 'AE05086432CA935F6EBA409A8ECD4896'],
  ['ae05086432ca935f6eba409a8ecd48967', 'ae05086432ca935f6eba409a8ecd48967'],
  ['_ae05086432ca935f6eba409a8ecd4896', 'data'],
  ["('ae05086432ca935f6eba409a8ecd4896', 1)", 'data'],
  ['<ae05086432ca935f6eba409a8ecd489>', 'ae05086432ca935f6eba409a8ecd489'],
  ['\ud835\udcb3-1', '\ud835\udcb3'],
  ['x-\ud835\udcb3\ud835\udcb3', 'x-\ud835\udcb3\ud835\udcb3'],
  ['x-\ud835\udcb3', 'x-\ud835\udcb3'],
  ['\u00aa-1', '\u00aa'],
  ['x-\u00aa\u00ba', 'x-\u00aa\u00ba'],
  ['x-\u00b2', 'x'],
  ['x-\u2167', 'x'],
  ['x-_y', 'x'],
  ['x-y_z-w', 'x'],
  ['$f-12', '$f'],
  ['f$-12', 'f$'],
  ['#p-1', '#p'],
  [' x-1', ' x'],
  ['x y-1', 'x y'],
  ['<a b.c>-1', 'a'],
  ['<a.b c>-1', 'b'],
  ['<\u00a0a.b d>', 'b'],
  ['<\ufeffa.b d>', 'b'],
  ["('x', 'y-z')", 'x'],
  ["('x', 'y'-z)", 'x'],
  ['x-deadbeef-a', 'x'],
  ['x-deadBEEF', 'x'],
  ['x-faceabca', 'x'],
  ['x-face', 'x-face'],
  ['x-beef-add', 'x-beef-add'],
  ['lambda-0123', 'lambda'],
  ['map-inc-12', 'map-inc'],
  ['from-delayed-123-456', 'from-delayed'],
  ['getitem-<lambda>-1', 'getitem'],
  ["('x','y-z-w', 0)", 'x-z'],
  ["'x'", 'x'],
  ['_\'()"x"()\'_-q', 'x-q'],
  ["((('x-1', 2), 3), 4)", 'x'],
  ['x\n-1', 'x\n'],
  ['x-\n', 'x'],
  ['\u00e9x,y-1', '\u00e9x,y'],
  ['_\u00e9,y-1', '\u00e9'],
];

test('a tuple key is spelled as Python spells the tuple', () => {
  assert.equal(key('x', 0, 1), "('x', 0, 1)");
  assert.equal(key('x'), "('x',)");
  assert.equal(key(), '()');
  assert.equal(key('a', ['b', [1]], []), "('a', ('b', (1,)), ())");
  assert.equal(key(true, false, null), '(True, False, None)');
  assert.equal(key(2n ** 60n, -3), '(1152921504606846976, -3)');
});

test('strings in a key are quoted and escaped as Python does', () => {
  assert.equal(key("it's", 'a"b'), `("it's", 'a"b')`);
  assert.equal(key('b\'"'), `('b\\'"',)`);
  assert.equal(key('\n\t\r\\'), "('\\n\\t\\r\\\\',)");
  assert.equal(
    key('\x00\x7f\xa0\xad\u200b\u2028\u3000\ud800\u{e0001}'),
    "('\\x00\\x7f\\xa0\\xad\\u200b\\u2028\\u3000\\ud800\\U000e0001',)",
  );
  assert.equal(key('é𝒳 日本'), "('é𝒳 日本',)");
});

test('numbers that are not integers are spelled as Python floats', () => {
  assert.equal(key(1.5, -0.1, 123456789.123), '(1.5, -0.1, 123456789.123)');
  assert.equal(key(0.0001, 0.00001, 1e-7), '(0.0001, 1e-05, 1e-07)');
  assert.equal(key(1e16, 1.5e300, 1e22, 5e-324), '(1e+16, 1.5e+300, 1e+22, 5e-324)');
  assert.equal(key(Number.NaN, Infinity, -Infinity), '(nan, inf, -inf)');
  assert.equal(key(-0), '(0,)');
});

test('a part that a key cannot contain is refused', () => {
  const parts: unknown[] = [undefined];
  assert.throws(
    () => Reflect.apply(key, undefined, ['x', ...parts]),
    (error) => error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT',
  );
});

test('keySplit returns the prefixes of Dask', () => {
  for (const [spelled, prefix] of RECORDED_PREFIXES)
    assert.equal(keySplit(spelled), prefix, `prefix of ${JSON.stringify(spelled)}`);
});

test('keySplit accepts bytes and tuples, and returns Other for other values', () => {
  assert.equal(keySplit(new TextEncoder().encode('hello-world-1')), 'hello-world');
  assert.equal(keySplit([['y-1', 2], 3]), 'y');
  for (const other of [null, undefined, 5, {}, [], new Uint8Array([0xff])])
    assert.equal(keySplit(other), 'Other');
});

test('keySplit returns right prefixes when the table of prefixes overflows', () => {
  for (let index = 0; index < 25_000; index++) {
    const prefix = `p${index}q`;
    assert.equal(keySplit(`${prefix}-1`), prefix);
  }
  assert.equal(keySplit('p3q-2'), 'p3q');
});

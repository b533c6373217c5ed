import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summariseSource } from './parseSource.js';
import { mergeSummaries, type Summary } from './summary.js';

const summarise = (text: string, file = 0): Summary => summariseSource(text, text.length, file);

/** Returns the hash of the only function in a text. */
function shapeOf(text: string): number {
  const { hashes } = summarise(text).shapes;
  assert.equal(hashes.length, 1);
  return hashes[0]!;
}

test('counts kinds of syntax, lines and bytes', () => {
  const { kinds, files, lines, bytes, failures } = summarise('const a = 1;\nlet b = a + 2;\n');
  assert.deepEqual(Object.fromEntries(kinds), {
    Program: 1,
    VariableDeclaration: 2,
    VariableDeclarator: 2,
    Identifier: 3,
    Literal: 2,
    BinaryExpression: 1,
  });
  assert.deepEqual([files, lines, bytes, failures], [1, 2, 28, []]);
});

test('a last line without a newline counts, an empty file has no line', () => {
  assert.equal(summarise('a;\nb;').lines, 2);
  assert.equal(summarise('').lines, 0);
});

test('finds the deepest node and its line', () => {
  // Program > ExpressionStatement > ArrayExpression > ArrayExpression > Literal
  assert.deepEqual(summarise('0;\n[[1]];', 3).deepest, { depth: 5, file: 3, line: 2 });
});

test('names and literals do not change the shape of a function', () => {
  assert.equal(
    shapeOf('function add(a, b) { return a + b + 1; }'),
    shapeOf('function plus(x, y) { return x + y + 20; }'),
  );
});

for (const [what, other] of [
  ['an operator', 'function add(a, b) { return a - b; }'],
  ['a parameter', 'function add(a) { return a + a; }'],
  ['async', 'async function add(a, b) { return a + b; }'],
  ['a statement', 'function add(a, b) { return a + b; ; }'],
] as const) {
  test(`${what} changes the shape of a function`, () => {
    assert.notEqual(shapeOf('function add(a, b) { return a + b; }'), shapeOf(other));
  });
}

test('reads modules, CommonJS with return and sloppy code, and a hashbang', () => {
  for (const text of [
    "import 'a'; await b;",
    'if (a) return; var await = 1;',
    'with (a) b;',
    '#!/usr/bin/env node\na',
  ]) {
    assert.deepEqual(summarise(text).failures, [], text);
  }
});

test('a file that does not parse is counted, with the reason', () => {
  const { files, lines, kinds, failures } = summarise('const = 1;\n', 5);
  assert.deepEqual([files, lines, kinds.size], [1, 1, 0]);
  assert.equal(failures[0]?.file, 5);
  assert.match(failures[0]?.message ?? '', /Unexpected token/);
});

test('code that is nested too deeply for the stack is a failure, not a crash', () => {
  const text = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  assert.equal(summarise(text).failures.length, 1);
});

test('merging adds up, keeps the first of a shape, and does not depend on the order', () => {
  const parts = ['f(() => 1);', 'g(() => 2); class {', 'h(() => 3, () => {});'].map((text, i) =>
    summarise(text, i),
  );
  const merged = mergeSummaries(parts);
  assert.deepEqual([merged.files, merged.kinds.get('ArrowFunctionExpression')], [3, 3]);
  assert.deepEqual([...merged.shapes.counts], [2, 1]);
  assert.deepEqual([...merged.shapes.files], [0, 2]);
  assert.equal(merged.failures[0]?.file, 1);
  assert.deepEqual(mergeSummaries([mergeSummaries(parts.slice(0, 2)), parts[2]!]), merged);
  const reversed = mergeSummaries([...parts].reverse());
  assert.deepEqual(reversed.deepest, merged.deepest);
  assert.deepEqual([...reversed.shapes.files].sort(), [0, 2]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionNameSpan } from './functionName.js';

function functionName(key: string): string {
  const bytes = new TextEncoder().encode(key);
  const span = { start: 0, end: bytes.length };
  functionNameSpan(bytes, span);
  return new TextDecoder().decode(bytes.subarray(span.start, span.end));
}

for (const [key, name, why] of [
  ['_func_fit-62a75b12-6b7a-49b0-b279-160a8ff3ee3b', '_func_fit', 'the uuid is removed entirely'],
  ['getGPUs-42237764-1836-4be8-ae62-948ce02e1d6a', 'getGPUs', 'a name without underscore'],
  ["('array-reshape-22612059257db170fa304ae3f488407c', 0, 0)", 'array-reshape', 'the name has two words'],
  [
    "('mean_combine-partial-6649f9f2c84885d06a79bc3170981cac', 0, 0)",
    'mean_combine-partial',
    'the name has an underscore and a dash',
  ],
  [
    "('_gaussian-b04ad04b6b232d0accff4d99554b8756', 3)",
    '_gaussian',
    'a leading underscore belongs to the name',
  ],
  ['original-array-64bef1cc631f078a2e8f3d2c24d62e99', 'original-array', 'a plain key with two words'],
  ['load', 'load', 'a key without a token is the name'],
  ['inc-0', 'inc', 'a number is a token'],
  ['x-abcdefab', 'x', 'eight hexadecimal letters are a token'],
  ['x-facade', 'x-facade', 'six are part of the name'],
  ["('x', 0)", 'x', 'a tuple without a token'],
  ['("it\'s-0123456789abcdef0123456789abcdef", 1)', "it's", 'double quotes'],
  ['größe-0123456789abcdef0123456789abcdef', 'größe', 'letters of all alphabets'],
  ['', '', 'nothing'],
  ['-', '-', 'a dash alone'],
] as const) {
  test(`${key} is a task of ${name}: ${why}`, () => assert.equal(functionName(key), name));
}

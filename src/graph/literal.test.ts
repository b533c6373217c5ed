import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Literal, literal } from './literal.js';

test('literal wraps a value without changing it', () => {
  const value = ['a'];
  const wrapped = literal(value);
  assert.ok(wrapped instanceof Literal);
  assert.equal(wrapped.value, value);
});

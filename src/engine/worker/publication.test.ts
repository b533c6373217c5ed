import assert from 'node:assert/strict';
import { it } from 'node:test';
import { recordedBytes } from './publication.js';

it('a local scheduler records the size of every typed array, and of other results if their tasks took a millisecond', () => {
  assert.equal(recordedBytes(new Float64Array(100), 0), 800);
  assert.equal(recordedBytes([1, 2, 3], 2e-3), 24);
  assert.ok(Number.isNaN(recordedBytes([1, 2, 3], 0.5e-3)));
});

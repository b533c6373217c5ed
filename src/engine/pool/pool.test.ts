// Tests the places of a pool.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Pool } from './pool.js';

it('a place whose process is being ended gets a new one', () => {
  const pool = new Pool('processes');
  const first = pool.isolate(0);
  first.terminate();
  assert.notEqual(pool.isolate(0), first);
  pool.terminate();
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedDataVersionTag } from 'node:v8';
import { collectGarbage } from './collectGarbage.js';

test('a collection frees what nothing refers to, and leaves the options of V8 as they were', async () => {
  const before = cachedDataVersionTag();
  const freed = new WeakRef({});
  // A reference is kept until the end of the turn that made it.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  assert.equal(freed.deref(), undefined);
  assert.equal(cachedDataVersionTag(), before);
});

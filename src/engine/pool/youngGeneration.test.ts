import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { cachedDataVersionTag } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { enlargeYoungGeneration } from './youngGeneration.js';

/** Posts the bytes that the young generation may have before the next collection. */
const ROOM = `
  const { parentPort } = require('node:worker_threads');
  const { getHeapSpaceStatistics } = require('node:v8');
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  parentPort.postMessage(young.space_used_size + young.space_available_size);
`;

async function roomOfNewThread(): Promise<number> {
  const [bytes] = await once(new Worker(ROOM, { eval: true }), 'message');
  return bytes;
}

test('threads start with large semi-spaces, unless V8 would reject what it compiled before', async () => {
  const tag = cachedDataVersionTag();
  enlargeYoungGeneration('');
  assert.equal(cachedDataVersionTag(), tag);
  const bytes = await roomOfNewThread();
  const major = Number.parseInt(process.versions.node, 10);
  if (major < 24) assert.ok(bytes < 2 ** 22, `${bytes} bytes`);
  else assert.ok(bytes > 2 ** 23, `${bytes} bytes`);
});

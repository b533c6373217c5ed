import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unfinishedText } from './eventTopics.js';

test('all counts of unfinished tasks are written alike', () => {
  const others = Array.from<string>({ length: 12_000 }).fill('inc');
  assert.equal(
    unfinishedText({ begun: [], others, waiting: 1500 }, 'observation'),
    '13,500 tasks had not ended when the observation ended: 12,000 had not started (12,000 inc), 1,500 waited for other tasks.',
  );
});

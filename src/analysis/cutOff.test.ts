import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASKS_CUT_OFF } from '../protocol/eventTopics.js';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { cutOffTexts } from './cutOff.js';

function textsOf(...texts: readonly string[]): string[] {
  const events = texts.map((text, time) => ({ time, worker: '', topic: TASKS_CUT_OFF, text }));
  return cutOffTexts(syntheticTrace({ tasks: [], events }));
}

test('the tasks of many computations that had not ended take a few lines', () => {
  assert.deepEqual(textsOf(), []);
  assert.deepEqual(textsOf('1 f.', '2 g.'), ['1 f.', '2 g.']);
  assert.deepEqual(textsOf('1 f.', '2 g.', '1 f.', '1 f.'), ['3 times: 1 f.', '2 g.']);
  assert.deepEqual(textsOf('1 f.', '2 f.', '3 f.', '4 f.'), [
    '1 f.',
    '2 f.',
    '3 f.',
    "1 further event 'tasks-cut-off' of the trace names more tasks.",
  ]);
});

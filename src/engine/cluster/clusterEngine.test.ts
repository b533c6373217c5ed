import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterEngine } from './clusterEngine.js';

test('an observer that is added twice is notified once of each event, until both calls have ended', () => {
  const engine = new ClusterEngine({ threads: false, inlineBytes: 1024 });
  const texts: string[] = [];
  const observer = { event: ({ text }: { text: string }) => void texts.push(text) };
  const [first, second] = [engine.observe(observer), engine.observe(observer)];
  engine.event('topic', 'both');
  first();
  first();
  engine.event('topic', 'second');
  second();
  engine.event('topic', 'none');
  assert.deepEqual(texts, ['both', 'second']);
  assert.equal(engine.hasObservers, false);
  engine.close();
});

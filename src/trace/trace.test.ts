import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StringTable } from './stringTable.js';
import { syntheticTrace } from './syntheticTrace.test.support.js';
import { newestEvents, newestMentions, textOf, workerName } from './trace.js';
import { TraceBuilder } from './traceBuilder.js';

test('views number the workers that follow a worker of the same name', () => {
  const builder = new TraceBuilder(new StringTable());
  const id = (text: string) => builder.strings.internString(text);
  for (const [host, name] of [
    ['a', 'worker-0'],
    ['a', 'worker-1'],
    ['a', 'worker-0'],
    ['b', 'worker-1'],
    ['a', 'worker-0'],
  ] as const)
    builder.workers.add({ host: id(host), name: id(name) });
  const trace = builder.build();
  assert.deepEqual(
    Array.from(trace.workers.name, (_, row) => workerName(trace, row)),
    ['worker-0', 'worker-1', 'worker-0 (2)', 'worker-1', 'worker-0 (3)'],
  );
  assert.equal(textOf(trace.strings, trace.workers.name[4]), 'worker-0');
});

test('views show events in order of time, also events that were reported late', () => {
  const events = [3, 1, 2, 2].map((time, i) => ({ time, topic: 'retry', text: `a-1 ${i}` }));
  const trace = syntheticTrace({ events });
  assert.deepEqual([...newestEvents(trace)], [0, 3, 2, 1]);
  const texts = newestMentions(trace, 'a-1', 3, 99).map(({ text }) => text);
  assert.deepEqual(texts, ['a-1 2', 'a-1 3', 'a-1 0']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StringTable } from './stringTable.js';
import { textOf, workerName } from './trace.js';
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

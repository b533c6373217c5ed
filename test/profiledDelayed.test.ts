// Profilers of compute(), which makes a graph from Delayed objects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tasks } from 'longpole';
import { CacheProfiler, Profiler } from 'longpole/diagnostics';

const { double, sum } = tasks(import.meta.url, {
  double: (x: number) => 2 * x,
  sum: (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0),
});

test('every record of a profiler contains the function and the arguments of its task', async () => {
  const profiler = new Profiler();
  const cache = new CacheProfiler();
  const parts = [double(3), double(4)];
  const total = sum(parts);
  assert.equal(await total.compute({ callbacks: [profiler, cache], numWorkers: 2 }), 14);
  const taskOf = new Map(profiler.results.map(({ key, task }) => [key, task]));
  assert.deepEqual(taskOf.get(parts[0]?.key ?? ''), [double.fn, 3]);
  assert.deepEqual(taskOf.get(parts[1]?.key ?? ''), [double.fn, 4]);
  const task = taskOf.get(total.key);
  assert.ok(Array.isArray(task) && task[0] === sum.fn);
  for (const { key, task } of cache.results) assert.deepEqual(task, taskOf.get(key));
});

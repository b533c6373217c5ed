import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { traceModel } from './traceModel.js';

test('a running task is on the thread of its worker that became free before it started', () => {
  const task = (key: string, thread: number, started: number, stopped: number) => ({
    ...{ key, worker: 'w', thread, started, stopped },
  });
  const trace = syntheticTrace({
    workers: [{ name: 'w', threads: 3 }],
    tasks: [task('a-0', 0, 0, 5), task('b-0', 1, 0, 3), task('c-0', 2, 0, 1), task('b-1', 1, 3, 4)],
  });
  const running = [
    { id: 103, key: 'late', prefix: 'late', worker: 0, started: 5 },
    { id: 101, key: 'early', prefix: 'early', worker: 0, started: 1 },
    { id: 102, key: 'middle', prefix: 'middle', worker: 0, started: 4 },
    { id: 104, key: 'too many', prefix: 'many', worker: 0, started: 6 },
  ];
  const { stream, tasks, workers } = traceModel(trace, { title: '', origin: 0, running, now: 7 }).page;
  assert.ok(stream !== undefined);
  const threads = Array.from(stream.task, (row, entry) => [
    tasks.keys.at(row),
    workers.at(stream.worker[entry]!),
  ]);
  assert.deepEqual(threads.slice(4), [
    ['early', 'w · 2'],
    ['middle', 'w · 1'],
    ['late', 'w · 0'],
    ['too many', 'w · 0'],
  ]);
});

test('garbage collections of idle workers do not belong to the run', () => {
  const workers = [{ name: 'w', started: 0 }];
  const memory = [4, 60].map((time) => ({ time, worker: 'w', managed: 1 }));
  const gc = (start: number) => ({ worker: 'w', action: 'gc' as const, start, stop: start + 0.001 });
  const intervals = [gc(5), gc(53)];
  const shown = (trace: ReturnType<typeof syntheticTrace>) => {
    const { origin, limits } = traceModel(trace, { title: '' });
    return [Math.round(origin + limits.start), Math.round(origin + limits.stop)];
  };
  const tasks = [{ key: 'a-0', worker: 'w', started: 10, stopped: 12 }];
  assert.deepEqual(shown(syntheticTrace({ workers, memory, intervals, tasks })), [10, 12]);
  assert.deepEqual(shown(syntheticTrace({ workers, memory, intervals })), [4, 60]);
  assert.deepEqual(shown(syntheticTrace({ workers, intervals })), [5, 53]);
});

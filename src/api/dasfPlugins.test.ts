// Reports a small run to DASF's two plugins, and checks their files and the analyser's tables of these files.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { TraceAnalyser } from '../analysis/traceAnalyser.js';
import { EventProfiler } from '../files/eventProfiler.js';
import { ResourcePlugin, WorkerTaskPlugin } from '../files/tracePlugin.js';
import {
  type Computation,
  type ResourceSample,
  TASK_ERRED,
  TASK_MEMORY,
  type TaskRuns,
  type WorkerInfo,
} from '../protocol/clusterObserver.js';
import { MultiEventDatabase } from '../trace/eventDatabase.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-plugins-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const worker: WorkerInfo = {
  index: 4,
  name: 'worker-1',
  address: 'thread://1/worker-1',
  host: 'c096',
  pid: 1,
  threads: 1,
  memoryLimit: 0,
  startTime: 1000,
};

/** Two loads and their sum. The `sum` of the second computation depends on the first load of the first one. */
const first: Computation = {
  number: 1,
  firstId: 100,
  size: 3,
  keys: ["('load-1f', 0)", "('load-1f', 1)", 'sum-2a'],
  prefixOf: Int32Array.of(0, 0, 1),
  prefixes: ['load', 'sum'],
  functionOf: Int32Array.of(0, 0, 1),
  functions: ['load', 'sum'],
  spanOf: null,
  spans: [['default']],
  dependencyOffsets: Int32Array.of(0, 0, 0, 2),
  dependencies: Int32Array.of(0, 1),
  externals: new Float64Array(0),
  submitted: 1000,
  client: 'client-1',
  code: '',
};
const second: Computation = {
  ...first,
  number: 2,
  firstId: 103,
  size: 1,
  keys: ['sum-3b'],
  prefixOf: Int32Array.of(0),
  prefixes: ['sum'],
  functionOf: Int32Array.of(0),
  functions: ['sum'],
  dependencyOffsets: Int32Array.of(0, 1),
  dependencies: Int32Array.of(1),
  externals: Float64Array.of(100),
};

function runs(computation: Computation, ids: number[], started: number[], stopped: number[]): TaskRuns {
  const zeros = new Float64Array(ids.length);
  return {
    computation,
    worker: 4,
    count: ids.length,
    ids: Int32Array.from(ids),
    states: new Uint8Array(ids.length).fill(TASK_MEMORY),
    types: new Uint16Array(ids.length),
    typeNames: ['Float64Array'],
    nbytes: new Float64Array(ids.length).fill(8e6),
    attempts: new Uint8Array(ids.length).fill(1),
    ready: zeros,
    dispatched: zeros,
    received: zeros,
    started: Float64Array.from(started),
    stopped: Float64Array.from(stopped),
    acknowledged: 0,
    dimensions: new Uint8Array(ids.length).fill(2),
    shapes: Float64Array.from(ids.flatMap((id) => [500, 2000 + id, 0, 0])),
  };
}

function sample(worker: number, time: number, gpu: number): ResourceSample {
  const figures = new Map([
    ['host_net_io.read_bps', 10],
    ['gpu_utilization', gpu],
    ['gpu_memory_used', gpu * 1e7],
    ['event_loop_utilization', 3],
  ]);
  return { worker, time, cpu: 50, rss: 1e8, heap: 1e7, external: 1e6, eventLoopDelay: 0.001, figures };
}

describe('the plugins of DASF', () => {
  const files = ['TracePlugin', 'ResourceMonitor'].map((name) => join(folder, `p-${name}-c096.msgpack`));
  const [tasks, resources] = files.map((file) => new EventProfiler(file));
  const trace = new WorkerTaskPlugin(tasks!);
  const monitor = new ResourcePlugin(resources!, 'c096');
  for (const plugin of [trace, monitor]) plugin.workerAdded(worker);
  trace.computationAdded(first);
  trace.tasksEnded(runs(first, [0, 1], [1000, 1000.5], [1000.5, 1001]));
  trace.memory({ worker: 4, time: 1001, process: 0, managed: 16e6, unmanaged: 0, spilled: 0, tasks: 2 });
  const failed = runs(first, [2], [1001], [1002]);
  failed.states[0] = TASK_ERRED;
  trace.tasksEnded(failed);
  trace.tasksEnded(runs(first, [2], [1002], [1003]));
  trace.computationAdded(second);
  trace.tasksEnded(runs(second, [0], [1003], [1003.25]));
  monitor.resources(sample(-1, 1000.5, 80));
  monitor.resources(sample(-1, 1001, 80));
  monitor.resources(sample(4, 1001, Number.NaN));
  monitor.resources(sample(9, 1001, 1));
  for (const profiler of [tasks!, resources!]) profiler.close();

  it('write tasks as DASF does', () => {
    const events = [...new EventProfiler(files[0]!).getTraces()];
    assert.equal(
      events.length,
      9,
      'two events per result, and one sample of the memory; a failure is no event',
    );
    assert.deepEqual(
      { ...events[2] },
      {
        name: 'Compute',
        timestamp: 1001,
        phase: 'X',
        processId: 'c096',
        threadId: 'worker-c096-1',
        duration: 0.5,
        args: {
          key: "('load-1f', 1)",
          name: 'load',
          state: 'memory',
          size: 8e6,
          shape: [500, 2001],
          dtype: 'float64',
          type: 'Float64Array',
          dependencies: [],
          dependents: ['sum-2a'],
        },
      },
    );
    assert.deepEqual(events[4]?.args, { key: "('load-1f', 1)", state: 'memory', size: 16e6, tasks: 2 });
    const [inner, outer] = [5, 7].map((at) => events[at]?.args['dependencies']);
    assert.deepEqual(inner, ["('load-1f', 0)", "('load-1f', 1)"]);
    assert.deepEqual(outer, ["('load-1f', 0)"], 'a key of an earlier computation');
  });

  it('write the memory of the worker after each task, from its last sample on', () => {
    const events = [...new EventProfiler(files[0]!).getTraces()].filter(
      ({ name }) => name === 'Managed Memory',
    );
    assert.deepEqual(
      events.map(({ timestamp, args: { key, size, tasks: count } }) => [timestamp, key, size, count]),
      [
        [1000.5, "('load-1f', 0)", 8e6, 1],
        [1001, "('load-1f', 1)", 16e6, 2],
        [1001, "('load-1f', 1)", 16e6, 2],
        [1003, 'sum-2a', 24e6, 3],
        [1003.25, 'sum-3b', 32e6, 4],
      ],
    );
  });

  it('count the result of each task, even if a later sample of the memory is without it', () => {
    const profiler = new EventProfiler(join(folder, 'left.msgpack'));
    const plugin = new WorkerTaskPlugin(profiler);
    plugin.workerAdded(worker);
    plugin.computationAdded(first);
    const sample = { worker: 4, process: 0, unmanaged: 0, spilled: 0 };
    plugin.memory({ ...sample, time: 1002, managed: 0, tasks: 0 });
    plugin.tasksEnded(runs(first, [0], [1000], [1001]));
    plugin.memory({ ...sample, time: 1003, managed: 0, tasks: 0 });
    profiler.close();
    assert.deepEqual(
      [...profiler.getTraces()].flatMap(({ name, timestamp, args: { size, tasks } }) =>
        name === 'Managed Memory' ? [[timestamp, size, tasks]] : [],
      ),
      [
        [1002, 0, 0],
        [1001, 8e6, 1],
        [1003, 0, 0],
      ],
    );
  });

  it('write resources as DASF does; unknown figures are null', () => {
    const events = [...new EventProfiler(files[1]!).getTraces()];
    assert.equal(events.length, 3, 'an unknown worker is left out');
    assert.deepEqual([events[0]?.threadId, events[2]?.threadId], [null, 'worker-c096-1']);
    assert.deepEqual(events[2]?.args, {
      cpu: 50,
      memory: 1e8,
      time: 1001,
      'host_net_io.read_bps': 10,
      'host_net_io.write_bps': null,
      'host_disk_io.read_bps': null,
      'host_disk_io.write_bps': null,
      num_fds: null,
      gpu_utilization: null,
      gpu_memory_used: null,
      heap: 1e7,
      external: 1e6,
      event_loop_delay: 0.001,
      event_loop_utilization: 3,
    });
  });

  it('write files from which the analyser computes the right tables', () => {
    const analyser = new TraceAnalyser(new MultiEventDatabase(files.map((file) => new EventProfiler(file))));
    const columns = ['Function', 'Duration (s)', 'Mean Data Size (MB)', 'Num Tasks (chunks)'];
    assert.deepEqual(
      analyser.perFunctionBottleneck().rows.map((row) => columns.map((title) => row[title])),
      [
        ['sum', 1.25, 12, 2],
        ['load', 1, 0, 2],
      ],
    );
    const [longest] = analyser.perTaskBottleneck().rows;
    assert.equal(longest?.['Task Key'], 'sum-2a');
    assert.equal(longest?.['Duration (s)'], 1);
    assert.equal(analyser.perWorkerTaskBalance().rows[0]?.['worker-c096-1'], 2);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, Event } from 'longpole';
import type { FailedTask } from 'longpole/analysis';
import { getMultiprocessing, getSync, getThreaded } from 'longpole/local';
import { observeProgram } from 'longpole/trace';
import { functionBottleneck, taskBottleneck } from '#internal/analysis/bottlenecks.js';
import { timeByAction, timeByPrefix } from '#internal/analysis/timeTables.js';
import { summarise } from '#internal/cli/run/summary.js';
import { summaryText } from '#internal/cli/run/summaryText.js';
import { groupGraph } from '#internal/dashboard/model/groupGraph.js';
import { ACTIONS } from '#internal/protocol/clusterObserver.js';
import { LiveTrace } from '#internal/trace/live/liveTrace.js';
import { type SyntheticSpec, syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { incAll } from './nestedGraphTasks.js';
import { s } from './slowImportTasks.js';

/** Twenty tasks of one second each, two at a time. */
const TASKS = Array.from({ length: 20 }, (_, i) => ({
  key: `a-${i}`,
  worker: 'w',
  thread: i % 2,
  started: Math.floor(i / 2),
  stopped: Math.floor(i / 2) + 1,
  submitted: 0,
}));

function busyOf(spec: SyntheticSpec): number | undefined {
  return summarise(syntheticTrace(spec)).workers[0]?.busy;
}

test('the busy share of a worker is the mean of its threads', () => {
  assert.equal(busyOf({ workers: [{ name: 'w', threads: 8, started: 0 }], tasks: TASKS }), 0.25);
  // If a trace lacks the number of threads, the threads that ran tasks count.
  const half = TASKS.filter((_, i) => i % 4 !== 1);
  assert.equal(busyOf({ workers: [{ name: 'w', threads: Number.NaN }], tasks: half }), 0.75);
  assert.equal(busyOf({ workers: [{ name: 'w', threads: 1 }], tasks: TASKS }), 1);
  assert.equal(busyOf({ tasks: TASKS.map((task) => ({ ...task, thread: -1 })) }), 1);
});

test('the summary lists workers that ran no task', () => {
  const { workers } = summarise(syntheticTrace({ workers: [{ name: 'w' }, { name: 'idle' }], tasks: TASKS }));
  assert.deepEqual(
    workers.map(({ name, tasks }) => [name, tasks]),
    [
      ['w', 20],
      ['idle', 0],
    ],
  );
});

test('the summary of a run without duration has no findings', () => {
  const trace = syntheticTrace({ tasks: [{ key: 'a-1', started: 0, stopped: 0, submitted: 0 }] });
  assert.match(summaryText(summarise(trace)), /\nfindings {3}No finding costs 5 % of the run or more\.\n$/);
});

test('the summary of a local scheduler has no line for moved bytes, because these are not recorded', async () => {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  const bytes = (): Float64Array => new Float64Array(1000).fill(1);
  const sum = (values: Float64Array): number => values.reduce((a, b) => a + b, 0);
  await getMultiprocessing({ a: [bytes], b: [sum, 'a'] }, 'b', { numWorkers: 1 });
  stop();
  const summary = summarise(live.snapshot());
  assert.equal(summary.moved, null);
  assert.doesNotMatch(summaryText(summary), /moved| B\b/);
  const row = timeByPrefix(live.snapshot()).rows.find(({ Prefix }) => Prefix === 'a');
  assert.equal(row?.['Results (MB)'], 0.008);
});

test('the summary of a cluster without transfers has no line for moved bytes', async () => {
  await using client = await connect({ workers: 1 });
  const inc = (x: number): number => x + 1;
  assert.equal(await client.submit(inc, 1).result(), 2);
  const summary = summarise(client.trace);
  assert.deepEqual(summary.moved, {
    betweenWorkers: 0,
    shuffled: 0,
    toWorkers: 0,
    toProgram: 0,
    spilled: 0,
    spilledResults: 0,
  });
  assert.doesNotMatch(summaryText(summary), /moved| B\b/);
});

test('the summary of a run whose tasks all died with their worker has a duration, and says which task and why', async () => {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  const boom = (): void => process.exit(7);
  await assert.rejects(getThreaded({ a: [boom] }, 'a', { numWorkers: 1 }), {
    code: 'ERR_LONGPOLE_KILLED_WORKER',
  });
  stop();
  const text = summaryText(summarise(live.snapshot()));
  assert.match(text, /^tasks {6}0 done, 1 failed, 3 lost with their worker in 1 computation; [\d.]+ m?s\n/);
  assert.match(text, /\nfailed {5}'a' on threads-\d: was running 3 times when its worker died/);
  assert.match(text, /\nfindings {3}1\. 'a' died 3 times with its worker and has no result/);
  assert.match(text, /The last time: The worker thread ended with exit code 7\./);
});

test('the summary counts the tasks that did not run because another one failed', async () => {
  const fail = (): never => {
    throw new Error('no');
  };
  const inc = (x: number): number => x + 1;
  const live = new LiveTrace();
  const stop = observeProgram(live);
  const graph = { a: [fail], b: [inc, 'a'], c: [inc, 'b'], d: [inc, 'b'] };
  await assert.rejects(getThreaded(graph, ['c', 'd'], { numWorkers: 1 }));
  stop();
  assert.match(summaryText(summarise(live.snapshot())), /^tasks {6}0 done, 1 failed, 3 did not run in 1/);
});

test('the summary of a cluster counts dependents of a failed task as tasks that did not run, and others as cancelled', async () => {
  await using client = await connect({ workers: 1 });
  const fail = (): never => {
    throw new Error('no');
  };
  const inc = (x: number): number => x + 1;
  const forever = (): Promise<never> => new Promise(() => undefined);
  const graph = { a: [fail], b: [inc, 'a'], c: [inc, 'b'], d: [inc, 'b'] };
  await assert.rejects(client.get(graph, ['c', 'd']));
  const failed = summarise(client.trace);
  assert.match(summaryText(failed), /^tasks {6}0 done, 1 failed, 3 did not run in 1/);
  assert.ok(!failed.findings.some(({ code }) => code === 'cancelled-tasks'));
  client.submit(forever).cancel();
  assert.equal(await client.submit(inc, 1).result(), 2);
  const text = summaryText(summarise(client.trace));
  assert.match(text, /^tasks {6}1 done, 1 failed, 1 cancelled, 3 did not run in 3/);
});

test('workers, prefixes and actions of the summary and the tables do not count tasks that did not run', async () => {
  await using client = await connect({ workers: 1 });
  const half = (x: number): number => {
    if (x % 2 === 1) throw new Error('no');
    return x / 2;
  };
  const inc = (x: number): number => x + 1;
  for (const x of [1, 2])
    await client
      .get({ [`half-${x}`]: [half, x], [`inc-${x}`]: [inc, `half-${x}`] }, `inc-${x}`)
      .catch(() => undefined);
  const { trace } = client;
  const { tasks, workers, prefixes } = summarise(trace);
  assert.deepEqual([tasks.memory, tasks.erred, tasks.skipped], [2, 1, 1]);
  assert.deepEqual(Object.fromEntries(prefixes.map((one) => [one.prefix, one.tasks])), { half: 2, inc: 1 });
  assert.equal(workers[0]?.tasks, 3);
  const rows = timeByPrefix(trace).rows;
  for (const { Prefix: prefix, Tasks: count, 'Mean (s)': mean, 'Duration (s)': seconds } of rows) {
    assert.equal(count, prefix === 'half' ? 2 : 1);
    assert.equal(mean, Number(seconds) / Number(count));
  }
  const functions = functionBottleneck(trace).rows.map((row) => [row['Function'], row['Num Tasks (chunks)']]);
  assert.deepEqual(Object.fromEntries(functions), { half: 2, inc: 1 });
  const ended = taskBottleneck(trace).rows.map((row) => row['Task Key']);
  assert.deepEqual(ended.sort(), ['half-1', 'half-2', 'inc-2']);
  const groups = groupGraph(trace, 'prefix').nodes.map((node) => [node.name, node.count]);
  assert.deepEqual(Object.fromEntries(groups), { half: 2, inc: 1 });
  const [compute] = timeByAction(trace).rows.filter(({ Action: action }) => action === 'compute');
  assert.equal(compute?.['Count'], 3);
});

test('tasks that did not run, and that a client then retries, count as done', async () => {
  await using client = await connect({ workers: 2 });
  const isSet = async (name: string, timeout?: number): Promise<number> => {
    const { Event: SharedEvent } = await import('longpole');
    if (!(await new SharedEvent(name).wait(timeout === undefined ? {} : { timeout }))) throw new Error('no');
    return 1;
  };
  const add = (a: number, b: number): number => a + b;
  const [held, failed] = [client.submit(isSet, 'held'), client.submit(isSet, 'failed', 0)];
  // No worker gets this task while `held` runs.
  const sum = client.submit(add, held, failed);
  await assert.rejects(sum.result());
  const counts = { memory: 0, erred: 1, cancelled: 0, lost: 0, retried: 0, skipped: 1 };
  assert.deepEqual(summarise(client.trace).tasks, counts);
  for (const name of ['held', 'failed']) await new Event(name, { client }).set();
  client.retry(sum);
  assert.equal(await sum.result(), 2);
  assert.deepEqual(summarise(client.trace).tasks, { ...counts, memory: 3, retried: 1, skipped: 0 });
});

test('the summary counts the tasks of an aborted local computation as cancelled', async () => {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  const one = (): number => 1;
  const forever = (): Promise<never> => new Promise(() => undefined);
  const add = (a: number, b: number): number => a + b;
  for (const get of [getSync, getThreaded, getMultiprocessing]) {
    const controller = new AbortController();
    const { signal } = controller;
    const before = { a: [one], b: [add, 'a', 1] };
    if (get === getSync) {
      const abort = (): void => controller.abort();
      const message = 'The computation was cancelled after 2 of 3 tasks.';
      assert.throws(() => getSync({ a: [one], b: [abort, 'a'], c: [add, 'b', 1] }, 'c', { signal }), {
        message,
      });
      continue;
    }
    const callbacks = { posttask: () => setImmediate(() => controller.abort()) };
    const graph = { ...before, c: [forever], d: [add, 'b', 'c'] };
    await assert.rejects(get(graph, 'd', { signal, callbacks, numWorkers: 1 }), { name: 'AbortError' });
  }
  // Aborted before the first task was sent.
  await assert.rejects(getThreaded({ e: [one] }, 'e', { signal: AbortSignal.abort() }));
  stop();
  const { memory, cancelled, skipped } = summarise(live.snapshot()).tasks;
  assert.deepEqual([memory + cancelled, skipped], [12, 0]);
  assert.ok(cancelled >= 6, String(cancelled));
});

test('the trace of a local computation says how long its workers imported modules', async () => {
  for (const get of [getThreaded, getMultiprocessing]) {
    const live = new LiveTrace();
    const stop = observeProgram(live);
    assert.equal(await get({ a: [s.inc, 1] }, 'a', { numWorkers: 1 }), 2);
    stop();
    const found = live.snapshot().totals.metrics.filter(({ activity }) => activity === 'import');
    assert.deepEqual(
      found.map(({ context, prefix, unit }) => [context, prefix, unit]),
      [['import', 'a', 'seconds']],
    );
    // How long it took is a matter of src/engine/worker/importTime.test.ts: waits for a core do not count.
    assert.ok(found[0]!.value > 0);
  }
});

test('the trace of a local computation has the number and size of graphs that its tasks ran', async () => {
  for (const scheduler of ['threads', 'processes'] as const) {
    const live = new LiveTrace();
    const stop = observeProgram(live);
    assert.deepEqual(await incAll([1, 2, 3]).compute({ scheduler, numWorkers: 1 }), [2, 3, 4]);
    stop();
    const found = live.snapshot().totals.metrics.filter(({ context }) => context === 'nested');
    const values = new Map(
      found.map(({ prefix, activity, unit, value }) => [`${prefix} ${activity} ${unit}`, value]),
    );
    assert.ok(values.get('incAll graph seconds')! > 0);
    values.delete('incAll graph seconds');
    const expected = { 'incAll graph count': 1, 'incAll graph tasks': 3, 'incAll graph workers': 2 };
    assert.deepEqual(Object.fromEntries(values), expected, scheduler);
  }
});

test('the trace of a local computation says how long its workers packed results for other tasks', async () => {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  const slow = (): unknown => ({
    text: 'x'.repeat(5000),
    get late() {
      for (const start = performance.now(); performance.now() < start + 6; );
      return 1;
    },
  });
  const size = (value: { text: string }): number => value.text.length;
  for (const get of [getThreaded, getMultiprocessing])
    assert.deepEqual(await get({ slow: [slow], size: [size, 'slow'] }, ['slow', 'size'], { numWorkers: 1 }), [
      { text: 'x'.repeat(5000), late: 1 },
      5000,
    ]);
  stop();
  const { intervals, tasks } = live.snapshot();
  const rows = Array.from(intervals.action.keys()).filter(
    (row) => ACTIONS[intervals.action[row]!] === 'serialize',
  );
  assert.deepEqual(
    rows.map((row) => tasks.keyOf(tasks.id.indexOf(intervals.task[row]!))),
    ['slow', 'slow'],
  );
  for (const row of rows) assert.ok(intervals.stop[row]! - intervals.start[row]! >= 0.005);
});

test('a local computation begins with its call, before its graph is compiled', async () => {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  let compiled = Number.POSITIVE_INFINITY;
  const inc = (x: number): number => x + 1;
  const graph = {
    get a() {
      compiled = Math.min(compiled, (performance.timeOrigin + performance.now()) / 1000);
      return [inc, 1];
    },
  };
  for (const get of [getSync, getThreaded, getMultiprocessing]) {
    compiled = Number.POSITIVE_INFINITY;
    assert.equal(await get(graph, 'a'), 2);
    const start = live.snapshot().computations.at(-1)?.start ?? Number.NaN;
    assert.ok(start <= compiled, `${get.name}: ${start - compiled} s after`);
  }
  stop();
});

test('the summary of a run in which no task ended says how often workers ended, and why', () => {
  const text = 'Its memory of 10 MB exceeds the limit of 5 MB.';
  const trace = syntheticTrace({
    workers: [{ name: 'w0' }],
    events: ['worker-restarted', 'worker-lost', 'worker-paused'].map((topic, time) => ({
      time,
      worker: 'w0',
      topic,
      text: topic === 'worker-restarted' ? text : topic,
    })),
  });
  const expected = `No task ended, because its workers ended 2 times. The first reason: ${text}`;
  assert.equal(summarise(trace).noTaskEnded, expected);
  assert.ok(summaryText(summarise(trace)).replaceAll(/\s+/g, ' ').includes(`lost ${expected}`));
});

/** @throws always */
function fail(): never {
  throw new TypeError('there is no column "price"');
}

test('the summary names the tasks that failed, with their workers and errors', async () => {
  const failedBy = async (work: () => unknown): Promise<readonly FailedTask[]> => {
    const live = new LiveTrace();
    const stop = observeProgram(live);
    await assert.rejects(async () => work(), /there is no column/);
    stop();
    return summarise(live.snapshot()).failed;
  };
  const graph = { read: [() => 1], parse: [fail, 'read'] };
  const error = 'TypeError: there is no column "price"';
  const works = [
    [() => getSync(graph, 'parse'), /^main$/],
    [() => getThreaded(graph, 'parse', { numWorkers: 1 }), /^threads-\d+$/],
    [() => getMultiprocessing(graph, 'parse', { numWorkers: 1 }), /^processes-\d+$/],
    [
      async () => {
        await using client = await connect({ workers: 1 });
        await client.submit(fail, { key: 'parse' }).result();
      },
      /^worker-0$/,
    ],
  ] as const;
  for (const [work, worker] of works) {
    const [one, ...others] = await failedBy(work);
    assert.deepEqual([one?.key, one?.error, others], ['parse', error, []]);
    assert.match(one?.worker ?? '', worker);
  }
});

test('the summary and the page for Prometheus agree on tasks that did not run and on cancelled ones', async () => {
  await using client = await connect({ workers: 1, dashboard: { port: 0 } });
  const failing = async (): Promise<never> => {
    const longpole = await import('longpole');
    await new longpole.Event('gate').wait();
    throw new Error('no');
  };
  const add = (...numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0);
  const [failed, nowhere] = [client.submit(failing), { resources: { GPU: 1 }, pure: false }];
  // No worker may have these tasks.
  const first = [1, 2, 3].map((one) => client.submit(add, failed, one, nowhere));
  const second = first.slice(1).map((one) => client.submit(add, one, 1, nowhere));
  const cancelled = client.submit(add, 1, nowhere);
  cancelled.cancel();
  await new Event('gate', { client }).set();
  for (const one of [failed, ...first, ...second]) await assert.rejects(one.result());
  const expected = { memory: 0, erred: 1, cancelled: 1, lost: 0, retried: 0, skipped: 5 };
  assert.deepEqual(summarise(client.trace).tasks, expected);
  const page = await (await fetch(`${client.dashboardLink}metrics`)).text();
  for (const state of ['memory', 'erred', 'cancelled', 'skipped'] as const) {
    const samples = page.matchAll(
      new RegExp(`^dask_scheduler_prefix_state_totals_total\\{.*state="${state}".*\\} (\\d+)$`, 'gm'),
    );
    const total = Array.from(samples, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
    assert.equal(total, expected[state], state);
  }
});

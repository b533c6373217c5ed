import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaskRow } from '../protocol/daskRows.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import type { Trace } from '../trace/trace.js';
import { ClusterMirror } from './clusterMirror.js';

const START = 1_000_000;

/** What a worker reports of a task if it knows only its own correction. */
const UNKNOWN = { received: Number.NaN, delay: 0, transfers: [], slot: Number.NaN, seceded: Number.NaN };

const hello: DaskRow = {
  type: 'hello',
  protocol: 1,
  time: START,
  bootId: 'one',
  facts: { Scheduler: 'tcp://10.0.0.1:8786' },
};

function worker(index: number, host = '10.0.0.2'): DaskRow {
  const address = `tcp://${host}:${4000 + index}`;
  return {
    type: 'worker',
    index,
    address,
    name: `w${index}`,
    host,
    pid: 10 + index,
    threads: 2,
    memoryLimit: 1e9,
    time: START,
  };
}

function graph(
  firstId: number,
  keys: readonly string[],
  more: Partial<DaskRow<'graph'>> = {},
): DaskRow<'graph'> {
  const none = new Int32Array(keys.length);
  return {
    type: 'graph',
    submitted: START + 1,
    client: 'Client-1',
    code: '',
    firstId,
    keys,
    prefixes: ['inc'],
    prefixOf: none,
    functions: ['inc'],
    functionOf: none,
    spans: [''],
    spanOf: none,
    dependencyCounts: none,
    dependencies: new Float64Array(0),
    given: new Int32Array(0),
    ...more,
  };
}

/** What a worker measured until 3 s. */
function batchOf(more: Partial<DaskRow<'batch'>>): DaskRow<'batch'> {
  return {
    type: 'batch',
    address: 'tcp://10.0.0.1:4000',
    time: START + 3,
    delay: 0,
    bootId: 'one',
    sampling: { interval: 0.01, cycle: 1 },
    moved: [],
    metrics: [],
    running: [],
    profiles: [],
    logs: [],
    ...more,
  };
}

/** A run of 0.1 s on a worker with a clock that is `behind` seconds slow. */
function run(id: number, at: number, more: Partial<DaskRow<'ended'>> = {}, behind = 0): DaskRow[] {
  const time = START + at;
  return [
    { type: 'ready', id, time },
    { type: 'sent', id, time: time + 0.01, worker: more.worker ?? 0 },
    {
      type: 'ended',
      id,
      time: time + 0.2,
      erred: false,
      worker: 0,
      thread: 1234,
      nbytes: 28,
      resultType: 'int',
      startstops: [{ action: 'compute', start: time + 0.05 - behind, stop: time + 0.15 - behind }],
      times: { ...UNKNOWN, received: time + 0.02 - behind },
      ...more,
    },
  ];
}

function mirrored(rows: readonly DaskRow[]): Trace {
  const live = new LiveTrace();
  const mirror = new ClusterMirror([live]);
  for (const row of rows) mirror.take(row);
  return live.snapshot();
}

function eventTexts({ events, strings }: Trace): string[] {
  return Array.from(events.text, (text) => strings.get(text));
}

/** Whole milliseconds since the start. */
function lifecycle({ tasks }: Trace, row: number): number[] {
  const { submitted, ready, dispatched, received, started, stopped, acknowledged } = tasks;
  return [submitted, ready, dispatched, received, started, stopped, acknowledged].map((times) =>
    Math.round((times[row]! - START) * 1000),
  );
}

describe('ClusterMirror', () => {
  it('reports the lifecycle of a task', () => {
    const trace = mirrored([hello, worker(0, '10.0.0.1'), graph(0, ['inc-1']), ...run(0, 2)]);
    assert.deepEqual(lifecycle(trace, 0), [1000, 2000, 2010, 2020, 2050, 2150, 2200]);
    assert.equal(trace.strings.get(trace.tasks.resultType[0]!), 'int');
  });

  it('corrects wrong clocks up to the duration of messages', () => {
    const behind = 3600;
    const rows = [0, 1, 2].flatMap((id) => run(id, 2 + id, {}, behind));
    const trace = mirrored([hello, worker(0), graph(0, ['a', 'b', 'c']), ...rows]);
    for (const row of [0, 1, 2]) {
      const [, ready, dispatched, received, started, stopped, acknowledged] = lifecycle(trace, row);
      assert.deepEqual([ready, acknowledged], [2000 + 1000 * row, 2200 + 1000 * row]);
      assert.ok(dispatched! <= received! && received! <= started! && stopped! <= acknowledged!);
      assert.ok(Math.abs(started! - (2050 + 1000 * row)) <= 30, String(started));
      assert.equal(stopped! - started!, 100);
    }
  });

  it('reports samples of the machine that scheduler and workers share', () => {
    const machine: DaskRow = {
      type: 'machine',
      time: START + 1,
      cores: 2,
      busy: 1.5,
      used: 1.25,
      workers: 1,
      delay: 0.5,
    };
    const { resources } = mirrored([hello, worker(0, '10.0.0.1'), machine]);
    assert.deepEqual([...resources.worker], [-1]);
    const figure = (name: string) => resources.figures.get(name)?.[0];
    const names = ['cpu', 'host_cpu', 'host_cores', 'workers_cpu', 'eventLoopDelay'];
    assert.deepEqual(names.map(figure), [125, 150, 2, 100, 0.5]);
  });

  it("reports the delay of the scheduler's event loop, also if the workers are on other machines", () => {
    const { resources } = mirrored([hello, worker(0), { type: 'loop', time: START + 1, delay: 2 }]);
    assert.deepEqual([...resources.worker], [-1]);
    assert.deepEqual([...(resources.figures.get('eventLoopDelay') ?? [])], [2]);
  });

  it("removes distributed's correction if scheduler and worker share a clock", () => {
    const wrong = {
      ...UNKNOWN,
      received: START + 2.02,
      delay: 0.5,
      transfers: [{ nbytes: 70, delay: 0.25 }],
    };
    const startstops = [
      { action: 'transfer', start: START + 2.28, stop: START + 2.29 },
      { action: 'compute', start: START + 2.55, stop: START + 2.65 },
      { action: 'disk-write', start: START + 2.16, stop: START + 2.17 },
    ];
    const trace = mirrored([
      hello,
      worker(0, '10.0.0.1'),
      graph(0, ['inc-1']),
      ...run(0, 2, { startstops, times: wrong }),
    ]);
    assert.deepEqual(lifecycle(trace, 0), [1000, 2000, 2010, 2020, 2050, 2150, 2200]);
    const starts = Array.from(trace.intervals.start, (time) => Math.round((time - START) * 1000));
    assert.deepEqual(starts, [2030, 2160]);
    assert.deepEqual([...trace.intervals.nbytes], [70, 0]);
  });

  it('distinguishes threads of a worker', () => {
    const keys = ['a', 'b', 'c'];
    const rows = keys.flatMap((_, id) => run(id, 2 + id, { thread: id === 1 ? 8 : 9 }));
    const trace = mirrored([hello, worker(0), graph(0, keys), ...rows]);
    assert.deepEqual([...trace.tasks.thread], [0, 1, 0]);
  });

  it('has a long-running task in the slot that it left to others, until it left it', () => {
    const keys = ['long', 'a', 'b'];
    const [ready, sent, ended] = run(0, 2, {
      startstops: [{ action: 'compute', start: START + 2.1, stop: START + 4 }],
      times: { ...UNKNOWN, received: START + 2, slot: 0, seceded: START + 2.5 },
      time: START + 4.1,
      thread: 7,
    });
    const others = [1, 2].flatMap((id) =>
      run(id, 2 + id, { thread: 7 + id, times: { ...UNKNOWN, slot: 0 } }),
    );
    const trace = mirrored([hello, worker(0, '10.0.0.1'), graph(0, keys), ready!, sent!, ...others, ended!]);
    const { thread, seceded, duration } = trace.tasks;
    assert.deepEqual([...thread], [0, 0, 0]);
    assert.deepEqual([...seceded], [Number.NaN, Number.NaN, START + 2.5]);
    assert.deepEqual(
      Array.from(duration, (seconds) => Math.round(1000 * seconds)),
      [100, 100, 400],
    );
  });

  it('numbers attempts, and reports runs without a result', () => {
    const again: DaskRow[] = [
      { type: 'ready', id: 0, time: START + 2 },
      // Another worker stole the task, and was lost.
      { type: 'sent', id: 0, time: START + 2, worker: 1 },
      { type: 'left', id: 0, time: START + 3, why: 'lost', worker: 0 },
      { type: 'worker-gone', index: 0, time: START + 3, reason: 'killed' },
      { type: 'sent', id: 0, time: START + 3, worker: 1 },
      { type: 'left', id: 0, time: START + 4, why: 'retried', worker: Number.NaN },
      ...run(0, 5, { worker: 1 }),
    ];
    const trace = mirrored([hello, worker(0), worker(1), graph(0, ['a']), ...again]);
    assert.deepEqual([...trace.tasks.attempt], [1, 2, 3]);
    // lost, erred, memory
    assert.deepEqual([...trace.tasks.state], [3, 1, 0]);
    assert.deepEqual([...trace.tasks.worker], [0, 1, 1]);
    assert.ok(Number.isNaN(trace.tasks.started[0]!));
  });

  it('reports stolen tasks as events of the worker that had them', () => {
    const { events, strings } = mirrored([
      hello,
      worker(0),
      worker(1),
      { type: 'stolen', time: START + 2, worker: 0, thief: 1, tasks: 3, seconds: 1.5 },
    ]);
    assert.deepEqual([...events.worker], [0]);
    assert.equal(strings.get(events.topic[0]!), 'stealing');
    assert.equal(strings.get(events.text[0]!), '3 tasks of expected 1.5 s to w1');
  });

  it('reports a result that was computed again as another attempt, and the lost worker', () => {
    const trace = mirrored([
      hello,
      worker(0),
      worker(1),
      graph(0, ['a', 'b']),
      ...run(0, 2),
      { type: 'worker-gone', index: 0, time: START + 3, reason: 'its connection broke' },
      ...run(0, 4, { worker: 1 }),
      ...run(1, 5, { worker: 1 }),
    ]);
    assert.deepEqual([...trace.tasks.attempt], [1, 2, 1]);
    assert.deepEqual(
      Array.from(trace.workers.stopped, (time) => time - START),
      [3, Number.NaN],
    );
    assert.equal(trace.strings.get(trace.workers.reason[0]!), 'its connection broke');
  });

  it('counts tasks that will not run, once each, until they run after all', () => {
    const before = [
      hello,
      worker(0),
      graph(0, ['fails', 'skipped', 'sent', 'cancelled', 'unrunnable'], {
        dependencyCounts: Int32Array.of(0, 1, 1, 0, 0),
        dependencies: Float64Array.of(0, 0),
      }),
      ...run(0, 2, { erred: true }),
      { type: 'ready', id: 2, time: START + 2 },
      { type: 'sent', id: 2, time: START + 2, worker: 0 },
      { type: 'left', id: 2, time: START + 2.3, why: 'cancelled', worker: Number.NaN },
      { type: 'dropped', ids: Float64Array.of(1, 2), time: START + 2.3, why: 'skipped' },
      { type: 'dropped', ids: Float64Array.of(1), time: START + 2.4, why: 'skipped' },
      { type: 'ready', id: 3, time: START + 2 },
      { type: 'dropped', ids: Float64Array.of(3), time: START + 3, why: 'cancelled' },
      { type: 'dropped', ids: Float64Array.of(4), time: START + 3, why: 'erred' },
    ] satisfies DaskRow[];
    const numbers = (rows: readonly DaskRow[]) => {
      const live = new LiveTrace();
      const mirror = new ClusterMirror([live]);
      for (const row of rows) mirror.take(row);
      mirror.reportUnfinished();
      const { totals, events } = live.snapshot();
      const dropped = totals.metrics
        .filter(({ context }) => context === 'dropped')
        .map(({ activity, value }) => [activity, value]);
      return { states: [...totals.states], dropped: Object.fromEntries(dropped), events: events.length };
    };
    assert.deepEqual(numbers(before), {
      states: [0, 1, 1, 0],
      dropped: { skipped: 2, cancelled: 1 },
      events: 0,
    });
    assert.deepEqual(numbers([...before, ...run(1, 5)]).dropped, { skipped: 1, cancelled: 1 });
  });

  it('omits runs that returned their task to the scheduler', () => {
    const given: DaskRow[] = [
      { type: 'ready', id: 0, time: START + 2 },
      { type: 'sent', id: 0, time: START + 2, worker: 0 },
      { type: 'left', id: 0, time: START + 3, why: 'rescheduled', worker: Number.NaN },
    ];
    const trace = mirrored([hello, worker(0), graph(0, ['p2p-1']), ...given, ...run(0, 4)]);
    assert.deepEqual([...trace.tasks.state], [0]);
    assert.deepEqual([...trace.tasks.attempt], [1]);
  });

  it('joins graphs with dependencies between them', () => {
    const second = graph(2, ['c', 'd'], {
      dependencyCounts: Int32Array.of(2, 1),
      dependencies: Float64Array.of(0, 1, 2),
    });
    const rows = [0, 1, 2, 3].flatMap((id) => run(id, 2 + id));
    const trace = mirrored([hello, worker(0), graph(0, ['a', 'b']), second, ...rows]);
    assert.deepEqual([...trace.tasks.dependencyRows], [0, 1, 2]);
    assert.deepEqual([...trace.tasks.dependencyOffsets], [0, 0, 0, 2, 3]);
  });

  it('spreads counts of the profiler over the runs of the prefix', () => {
    const rows = [0, 1].flatMap((id) => run(id, 2 + 0.3 * id));
    const node = (parent: number, count: number, functionName: string, line: number) => ({
      parent,
      count,
      functionName,
      file: 'inc.py',
      line,
    });
    const counted = [
      node(-1, 20, 'root', 0),
      node(0, 12, 'inc', 2),
      node(1, 4, 'deep', 9),
      node(0, 8, 'inc', 3),
    ];
    const batch = (nodes: typeof counted) =>
      batchOf({ profiles: [{ time: START + 3, prefix: 'inc', nodes }] });
    const trace = mirrored([hello, worker(0, '10.0.0.1'), graph(0, ['a', 'b']), ...rows, batch(counted)]);
    assert.equal(trace.samples.length, 20);
    const ofLine = (line: number): number => trace.samples.line.filter((one) => one === line).length;
    assert.deepEqual([2, 3, 9].map(ofLine), [8, 8, 4]);
    const byTask = [0, 1].map((id) => trace.samples.task.filter((task) => task === id).length);
    assert.deepEqual(byTask, [10, 10]);
    for (const [sample, time] of trace.samples.time.entries()) {
      const task = trace.samples.task[sample]!;
      assert.ok(time >= trace.tasks.started[task]! && time <= trace.tasks.stopped[task]!);
    }
    // distributed does not count innermost frames.
    const uncounted = [node(-1, 9, 'root', 0), node(0, 9, 'call', 1), node(1, 0, 'a', 2), node(1, 0, 'b', 3)];
    const other = mirrored([hello, worker(0, '10.0.0.1'), graph(0, ['a', 'b']), ...rows, batch(uncounted)]);
    assert.deepEqual(
      [1, 2, 3].map((line) => other.samples.line.filter((one) => one === line).length),
      [0, 5, 4],
    );
    const names = Array.from(trace.frames.functionName, (id) => trace.strings.get(id));
    assert.deepEqual(names.sort(), ['deep', 'inc']);
  });

  it('reports transfers from both sides, and with clients', () => {
    const moved = { start: START + 2, stop: START + 2.5, nbytes: 100, compressed: Number.NaN, keys: ['a'] };
    const batch = (address: string, direction: 'incoming' | 'outgoing', peer: string): DaskRow =>
      batchOf({ address, moved: [{ ...moved, direction, peer }] });
    const [a, b] = ['tcp://10.0.0.2:4000', 'tcp://10.0.0.2:4001'];
    const { transfers } = mirrored([
      hello,
      worker(0),
      worker(1),
      batch(a, 'outgoing', b),
      batch(b, 'incoming', a),
      batch(a, 'outgoing', 'Client-1'),
    ]);
    assert.deepEqual([...transfers.peer], [1, 0, -1]);
    // get-data, gather-dep, gather
    assert.deepEqual([...transfers.what], [1, 0, 2]);
    assert.deepEqual([...transfers.compressed], [100, 100, 100]);
  });

  it('reports the tasks that have not ended at the end of the observation, and what holds them up', () => {
    const status: DaskRow = {
      type: 'status',
      time: START + 4,
      states: new Map([
        ['waiting', 3],
        ['no-worker', 1],
      ]),
      workers: [{ index: 0, status: 'paused', processing: 2, occupancy: 1 }],
    };
    const live = new LiveTrace();
    const mirror = new ClusterMirror([live]);
    const rows: DaskRow[] = [
      hello,
      worker(0, '10.0.0.1'),
      graph(0, ['a', 'b', 'c', 'd']),
      ...run(0, 1),
      ...[1, 2, 3].map((id): DaskRow => ({ type: 'ready', id, time: START + 1 })),
      ...[1, 2].map((id): DaskRow => ({ type: 'sent', id, time: START + 1, worker: 0 })),
      batchOf({ running: [{ key: 'b', started: START + 2 }] }),
      status,
    ];
    for (const row of rows) mirror.take(row);
    mirror.reportUnfinished();
    assert.deepEqual(eventTexts(live.snapshot()), [
      '6 tasks had not ended when the observation ended: 1 ran (b on w0 for 2 s), 2 had not started (2 inc), 3 waited for other tasks. No present worker may run 1 of them: compare their resources and workers. Paused, because their memory was full: w0.',
    ]);
  });

  it('reports large arguments as a transfer from the program, at most for the time that they can take', () => {
    const late = (id: number): DaskRow[] =>
      run(id, id, { times: { ...UNKNOWN, received: START + id + 0.04 } });
    const withArguments = (id: number, nbytes: number): DaskRow[] => {
      const [ready, sent, ended] = late(id);
      return [ready!, sent!, { type: 'arguments', id, nbytes }, ended!];
    };
    const { transfers, keys } = mirrored([
      hello,
      worker(0, '10.0.0.1'),
      graph(0, ['a', 'b', 'c']),
      ...late(0),
      ...withArguments(1, 1e6),
      ...withArguments(2, 1e5),
    ]);
    assert.deepEqual([...transfers.nbytes], [1e6, 1e5]);
    assert.deepEqual([...transfers.peer], [-1, -1]);
    assert.equal(keys.get(transfers.keys[0]!), 'b');
    const spans = Array.from(transfers.start, (start, row) =>
      [start, transfers.stop[row]!].map((time) => Math.round((time - START) * 1000)),
    );
    assert.deepEqual(spans, [
      [1010, 1040],
      [2030, 2040],
    ]);
  });

  it('reports no tasks if all have ended', () => {
    const live = new LiveTrace();
    const mirror = new ClusterMirror([live]);
    for (const row of [hello, worker(0), graph(0, ['a']), ...run(0, 1)]) mirror.take(row);
    mirror.reportUnfinished();
    assert.deepEqual(eventTexts(live.snapshot()), []);
  });

  it('rejects contradictory rows', () => {
    const impossible: DaskRow[][] = [
      [{ type: 'ready', id: 0, time: START }],
      [hello, { type: 'ready', id: 7, time: START }],
      [hello, graph(5, ['a']), graph(5, ['b'])],
      [{ ...hello, protocol: 2 }],
    ];
    for (const rows of impossible) assert.throws(() => mirrored(rows), { code: 'ERR_LONGPOLE_DASK_BRIDGE' });
  });
});

// The trace of a cluster, live and on disk: times of tasks and transfers.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, connect, LocalCluster } from 'longpole';
import { criticalPath, QUESTIONS } from 'longpole/analysis';
import { openTrace, type Trace } from 'longpole/trace';
import { withFolder } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { clusterTest, started, until } from './support.js';

const LARGE = 100_000;
/**
 * Seconds by which times of a worker may be wrong. The offset of a clock is estimated, the worse the busier the machine. Less
 * than the error of a wrong clock, which is 5 s.
 */
const CLOCKS = 4;
/** Indices of choices in the columns `action`, `direction` and `what`. */
const [TRANSFER, AWAIT, INCOMING, GATHER_DEP] = [1, 9, 0, 0];

/**
 * Gives wrong clocks to worker processes that start while `body` runs: one clock is 5 s ahead, the others are 5 s behind.
 * Each process preloads a module that shifts the clock in all threads. The first process creates the folder `taken`.
 */
function withWrongClocks(body: () => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const before = process.env['NODE_OPTIONS'];
    const preloaded = encodeURIComponent(wrongClock(join(folder, 'taken')));
    process.env['NODE_OPTIONS'] = `${before ?? ''} --import=data:text/javascript,${preloaded}`;
    try {
      await body();
    } finally {
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
    }
  });
}

function wrongClock(taken: string): string {
  return `
    import { mkdirSync } from 'node:fs';
    function takeSign() {
      try {
        mkdirSync(${JSON.stringify(taken)});
        return '';
      } catch {
        return '-';
      }
    }
    const sign = (process.env.TEST_CLOCK_SIGN ??= takeSign());
    const right = process.hrtime.bigint;
    process.hrtime.bigint = () => right() + BigInt(sign + '5000000000');
  `;
}

/** Runs two rounds of tasks. The tasks of the second round fetch their inputs from the other worker. */
async function work(client: Client): Promise<number> {
  const [first, second] = Object.keys(client.schedulerInfo().workers);
  const arrays = Array.from({ length: 6 }, (_, i) =>
    client.submit(t.zeros, LARGE, 1, { workers: i % 2 === 0 ? first! : second! }),
  );
  await Promise.all(arrays.map((future) => future.wait()));
  const sums = arrays.map((future, i) =>
    client.submit(t.total, future, { workers: i % 2 === 0 ? second! : first! }),
  );
  return (await client.gather(sums)).reduce((a, b) => a + b, 0);
}

function rowsOf(length: number, test: (row: number) => boolean): number[] {
  return Array.from({ length }, (_, row) => row).filter(test);
}

/**
 * Checks that the times of every task are in order, that a task is dispatched after its dependencies, and that all times lie
 * between `begin`, in epoch seconds, and now.
 */
function assertTimesInOrder({ tasks }: Client['trace'], begin: number): void {
  for (let row = 0; row < tasks.length; row++) {
    const times = [
      tasks.submitted,
      tasks.ready,
      tasks.dispatched,
      tasks.received,
      tasks.started,
      tasks.stopped,
      tasks.acknowledged,
    ].map((column) => column[row]!);
    assert.ok(
      times.every((time, i) => i === 0 || time >= times[i - 1]!),
      `times of row ${row}: ${times.map((time) => (time - begin).toFixed(6)).join(' ')}`,
    );
    assert.ok(times[0]! > begin - 1 && times.at(-1)! < Date.now() / 1000 + 1);

    for (let at = tasks.dependencyOffsets[row]!; at < tasks.dependencyOffsets[row + 1]!; at++)
      assert.ok(tasks.acknowledged[tasks.dependencyRows[at]!]! <= tasks.dispatched[row]!);
  }
}

/** Checks that every transfer starts before it stops, and that its times lie between `begin` and now. */
async function assertTransfersInOrder(client: Client, begin: number): Promise<void> {
  await until('the trace contains transfers', () => client.trace.transfers.length > 0);
  const { transfers } = client.trace;
  for (let row = 0; row < transfers.length; row++) {
    assert.ok(transfers.start[row]! > begin - CLOCKS && transfers.start[row]! <= transfers.stop[row]!);
    assert.ok(transfers.stop[row]! < Date.now() / 1000 + CLOCKS);
  }
}

async function assertOrderOfWork(client: Client): Promise<void> {
  const begin = Date.now() / 1000;
  assert.equal(await work(client), 6 * LARGE);
  assert.equal(client.trace.tasks.length, 12);
  assertTimesInOrder(client.trace, begin);
  await assertTransfersInOrder(client, begin);
}

/**
 * Checks that the intervals of transfers are those of the trace's transfers, and that the time by action contains them.
 * `clocks`: seconds by which the times of an interval and of its task may differ.
 */
function assertTransferIntervals(trace: Trace, clocks: number): void {
  const { transfers, intervals, tasks } = trace;
  const gathered = rowsOf(
    transfers.length,
    (row) => transfers.direction[row] === INCOMING && transfers.what[row] === GATHER_DEP,
  );
  const rows = rowsOf(intervals.length, (row) => intervals.action[row] === TRANSFER);
  assert.ok(rows.length > 0);
  const timesOf = (
    { worker, start, stop, nbytes }: typeof transfers | typeof intervals,
    of: number[],
  ): number[][] =>
    of.map((row) => [start[row]!, stop[row]!, worker[row]!, nbytes[row]!]).sort((a, b) => a[0]! - b[0]!);
  assert.deepEqual(timesOf(intervals, rows), timesOf(transfers, gathered));
  for (const row of rows) {
    const task = tasks.id.indexOf(intervals.task[row]!);
    assert.match(tasks.keyOf(task), /^total/);
    assert.ok(intervals.stop[row]! <= tasks.started[task]! + clocks);
  }
  const seconds = rows.reduce((sum, row) => sum + intervals.stop[row]! - intervals.start[row]!, 0);
  const action = QUESTIONS.find(({ name }) => name === 'time-by-action')!
    .run(trace)
    .rows.find((row) => row['Action'] === 'transfer');
  assert.equal(action?.['Count'], rows.length);
  assert.ok(Math.abs(Number(action?.['Duration (s)']) - seconds) < 1e-9);
}

function assertCoreWaits({ tasks: { coreWait, length } }: Trace): void {
  assert.equal(length, 12);
  const isCounted = existsSync('/proc/thread-self/schedstat');
  for (const seconds of coreWait) assert.ok(isCounted ? seconds >= 0 : Number.isNaN(seconds), `${seconds}`);
}

function assertSameRows(recorded: Trace, live: Trace): void {
  assert.equal(recorded.tasks.length, live.tasks.length);
  const rows = new Map(Array.from(recorded.tasks.id, (id, row) => [id, row]));
  for (let row = 0; row < live.tasks.length; row++) {
    const same = rows.get(live.tasks.id[row]!)!;
    assert.equal(recorded.keys.get(recorded.tasks.key[same]!), live.keys.get(live.tasks.key[row]!));
    for (const column of ['submitted', 'started', 'stopped', 'acknowledged', 'coreWait', 'nbytes'] as const)
      assert.equal(recorded.tasks[column][same], live.tasks[column][row], column);
  }
  assert.equal(recorded.computations.length, live.computations.length);
}

clusterTest('the trace of two rounds of tasks', async ({ client, folder, context, processes }) => {
  const directory = join(folder, 'trace');
  const recording = client.record(directory);
  await context.test('has all times of every task in order', () => assertOrderOfWork(client));
  await context.test('has a transfer interval for each gathering of inputs, and its time by action', () =>
    assertTransferIntervals(client.trace, processes ? CLOCKS : 0),
  );
  await context.test('has the time that every task waited for a core if the system measures it', () =>
    assertCoreWaits(client.trace),
  );
  await context.test('is the same on disk', async () => {
    await client.gather(client.map(t.inc, [1, 2, 3]));
    await recording();
    assertSameRows(openTrace(directory), client.trace);
  });
});

test('processes: the times are in order even if the clocks of the workers are off by 5 s', () =>
  withWrongClocks(async () => {
    await using cluster = await LocalCluster.start({ workers: 2, processes: true });
    await using client = await connect(cluster, { setAsDefault: false });
    const signs = Object.values(await client.run(() => process.env['TEST_CLOCK_SIGN']));
    assert.deepEqual(signs.toSorted(), ['', '-']);
    await assertOrderOfWork(client);
  }));

clusterTest(
  'getTaskStream lists runs that were lost with their worker, from their dispatch to their loss',
  async ({ client, folder }) => {
    const future = client.submit(t.exitOnce, join(folder, 'calls'), 7);
    assert.equal(await future.result(), 7);
    const rows = client.getTaskStream();
    assert.deepEqual(
      rows.map(({ key, status }) => [key, status]),
      [
        [future.key, 'lost'],
        [future.key, 'memory'],
      ],
    );
    const { received, started, stopped, dispatched, acknowledged } = rows[0]!;
    assert.deepEqual([received, started, stopped], [Number.NaN, Number.NaN, Number.NaN]);
    assert.ok(dispatched <= acknowledged);
    const statuses = (start: number, stop: number): string[] =>
      client.getTaskStream({ start, stop }).map(({ status }) => status);
    assert.deepEqual(statuses(dispatched, dispatched), ['lost']);
    assert.deepEqual(statuses(acknowledged, acknowledged).slice(0, 1), ['lost']);
    assert.deepEqual(statuses(0, dispatched - 0.001), []);
    assert.deepEqual(statuses(acknowledged + 1e-6, Number.POSITIVE_INFINITY), ['memory']);
  },
);

/** Waits for a promise while this thread is repeatedly blocked for 200 ms. */
async function whileBlocked<T>(promise: Promise<T>): Promise<T> {
  let waits = true;
  const settled = promise.finally(() => {
    waits = false;
  });
  while (waits) {
    const end = performance.now() + 200;
    while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await settled;
}

test('processes: no task ends after its acknowledgement, even if the offset of a clock is measured badly', () =>
  withWrongClocks(async () => {
    const begin = Date.now() / 1000;
    // Heartbeats are delayed on the way to this thread and answers are not, so the measured clock offset is too large.
    await using cluster = await whileBlocked(LocalCluster.start({ workers: 2, processes: true }));
    await using client = await connect(cluster, { setAsDefault: false });
    await whileBlocked(work(client));
    assert.equal(await work(client), 6 * LARGE);
    assertTimesInOrder(client.trace, begin);
  }));

clusterTest(
  'a transfer to the client counts once, although both sides report it',
  async ({ client, processes }) => {
    const arrays = [client.submit(t.zeros, LARGE, 1), client.submit(t.zeros, LARGE, 1)];
    await client.gather(arrays);
    const sent = () => client.run(({ worker }) => worker.outgoingTransferLog.flatMap(({ keys }) => keys));
    const logged = async () => Object.values(await sent()).flat().length;
    // A worker process also reports what it has sent.
    if (processes) await until('the workers have logged both transfers', async () => (await logged()) === 2);
    const { pairs } = client.trace.totals;
    assert.ok(pairs.every(({ to }) => to === -1));
    const bytes = arrays.map(({ key }) => {
      const { tasks } = client.trace;
      const row = Array.from(tasks.id.keys()).find((one) => tasks.keyOf(one) === key);
      return tasks.nbytes[row ?? -1] ?? Number.NaN;
    });
    assert.equal(
      pairs.reduce((sum, { nbytes }) => sum + nbytes, 0),
      bytes[0]! + bytes[1]!,
    );
  },
);

clusterTest(
  'a large argument is a transfer from the client, and a small argument is not',
  async ({ client }) => {
    const large = new Float64Array(2 * LARGE).fill(1);
    const sums = [client.submit(t.total, large), client.submit(t.total, new Float64Array(10))];
    assert.deepEqual(await client.gather(sums), [2 * LARGE, 0]);
    await until('the trace contains the transfer', () => client.trace.transfers.length > 0);
    const { transfers, totals, tasks } = client.trace;
    assert.deepEqual([transfers.length, transfers.peer[0], transfers.nbytes[0]], [1, -1, large.byteLength]);
    const row = Array.from(tasks.id.keys()).find((one) => tasks.keyOf(one) === sums[0]?.key) ?? -1;
    const [start, stop] = [transfers.start[0]!, transfers.stop[0]!];
    // The clock of a worker process may be behind.
    assert.ok(start >= tasks.dispatched[row]! && stop <= Math.max(start, tasks.started[row]!));
    assert.equal(totals.pairs[0]?.nbytes, large.byteLength);
  },
);

clusterTest(
  'an argument of several tasks travels once in each message with such tasks',
  async ({ client }) => {
    const large = new Float64Array(2 * LARGE).fill(1);
    const sums = Array.from({ length: 20 }, () => client.submit(t.total, large));
    assert.equal((await client.gather(sums)).length, 20);
    const sizes = () => Array.from(client.trace.transfers.nbytes);
    await until('the trace contains a transfer', () => sizes().length > 0);
    assert.deepEqual(new Set(sizes()), new Set([large.byteLength]));
  },
);

clusterTest(
  'a computation begins with the call that submits it, and is prepared after the turn',
  async ({ client }) => {
    const futures = client.map(t.inc, [1, 2, 3]);
    // Calls in one turn of the event loop become one computation at the end of the turn.
    const begin = performance.now();
    while (performance.now() < begin + 5);
    const passed = (performance.now() - begin) / 1000;
    await client.gather(futures);
    const { tasks, computations } = client.trace;
    const { start, prepared = Number.NaN } = computations[0]!;
    assert.ok(prepared - start >= passed - 1e-6, `${prepared - start} s of ${passed} s`);
    assert.ok(tasks.submitted[0]! >= prepared);
    assert.equal(criticalPath(client.trace).start, start);
  },
);

clusterTest(
  'arguments in shared memory are transferred to processes, and not to threads',
  async ({ client, processes }) => {
    const shared = new Float64Array(new SharedArrayBuffer(16 * LARGE));
    assert.equal(await client.submit(t.total, shared).result(), 0);
    // This argument is copied to both kinds of workers. Once its transfer is in the trace, earlier transfers are, too.
    assert.equal(await client.submit(t.total, new Float64Array(LARGE * 4)).result(), 0);
    const copied = 32 * LARGE;
    const sizes = () => Array.from(client.trace.transfers.nbytes);
    await until('the trace contains the second transfer', () => sizes().includes(copied));
    assert.deepEqual(sizes(), processes ? [shared.byteLength, copied] : [copied]);
  },
);

/**
 * A task that awaits timers, at least ten, until its gate opens. Shorter waits are not recorded, and a busy machine takes time from
 * each of them. `message`: of the error that it then throws.
 */
const awaitGate = async (path: string, message?: string): Promise<void> => {
  const { existsSync, writeFileSync } = await import('node:fs');
  for (let round = 1; !existsSync(`${path}.open`); round++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (round === 10) writeFileSync(`${path}.started`, '');
  }
  if (message !== undefined) throw new Error(message);
};

/** Returns the number of tasks whose waits for promises are in the trace. */
const awaited = ({ trace }: Client): number => {
  const { length, action, task } = trace.intervals;
  return new Set(rowsOf(length, (row) => action[row] === AWAIT).map((row) => task[row])).size;
};

clusterTest(
  'the time in which a failing task awaits promises is in the trace',
  async ({ client, folder }) => {
    const call = client.submit(awaitGate, join(folder, 'call'), '503');
    await started(folder, 'call');
    writeFileSync(join(folder, 'call.open'), '');
    await call.wait();
    await until('the trace has the wait', () => awaited(client) === 1);
  },
  { profile: false },
);

clusterTest(
  'the trace has the waits of ended tasks while the next task of their worker awaits',
  async ({ client, folder }) => {
    const calls = client.map(
      awaitGate,
      ['a', 'b', 'c'].map((name) => join(folder, name)),
    );
    for (const name of ['a', 'b']) {
      await started(folder, name);
      writeFileSync(join(folder, `${name}.open`), '');
    }
    await started(folder, 'c');
    await until('the trace has the waits', () => awaited(client) === 2);
    writeFileSync(join(folder, 'c.open'), '');
    await client.gather(calls);
  },
  { profile: false, workers: 1 },
);

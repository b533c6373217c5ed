// Dask's own counts of an observed cluster, and checks that a trace agrees with them.
import assert from 'node:assert/strict';
import { criticalPath, findings, QUESTIONS } from 'longpole/analysis';
import type { Trace } from 'longpole/trace';

/** Counts from Dask's task stream and transfer logs, as `workload.py` prints them. */
export interface Counted {
  readonly tasks: number;
  /** `prefix action` → number of intervals and their seconds. */
  readonly totals: Readonly<Record<string, readonly [count: number, seconds: number]>>;
  /** Per worker, incoming and outgoing transfers: their number and their bytes. */
  readonly moved: readonly (readonly (readonly [count: number, bytes: number])[])[];
}

const ERRED = 1;
const ACTIONS = ['compute', 'transfer', 'disk-read', 'disk-write', 'serialize', 'deserialize'];

/** Returns the rows of runs with a result or a final error. Dask's task stream omits failed attempts that were retried. */
function ranRows({ tasks, strings }: Trace): number[] {
  const wasRetried = (row: number): boolean =>
    strings.get(tasks.prefix[row]!) === 'flaky' && tasks.state[row] === ERRED;
  return Array.from(tasks.state.keys()).filter(
    (row) => tasks.stopped[row]! >= tasks.started[row]! && !wasRetried(row),
  );
}

function tracedTotals(trace: Trace): Map<string, [number, number]> {
  const totals = new Map<string, [number, number]>();
  const add = (prefix: number, action: string, seconds: number): void => {
    const name = `${trace.strings.get(prefix)} ${action}`;
    const [count, sum] = totals.get(name) ?? [0, 0];
    totals.set(name, [count + 1, sum + seconds]);
  };
  const { tasks, intervals } = trace;
  const prefixOf = new Map(Array.from(tasks.id, (id, row) => [id, tasks.prefix[row]!]));
  for (const row of ranRows(trace)) add(tasks.prefix[row]!, 'compute', tasks.duration[row]!);
  for (let row = 0; row < intervals.length; row++) {
    const prefix = prefixOf.get(intervals.task[row]!);
    assert.ok(prefix !== undefined, 'the trace has an interval of an unknown task');
    add(prefix, ACTIONS[intervals.action[row]!] ?? '', intervals.stop[row]! - intervals.start[row]!);
  }
  return totals;
}

/** Checks that a trace and Dask's counts have equal numbers of tasks, intervals, seconds and transferred bytes. */
export function assertCounted(trace: Trace, counted: Counted): void {
  const totals = tracedTotals(trace);
  assert.equal(ranRows(trace).length, counted.tasks);
  assert.deepEqual([...totals.keys()].sort(), Object.keys(counted.totals).sort());
  for (const [name, [count, seconds]] of Object.entries(counted.totals)) {
    const [traced, sum] = totals.get(name) ?? [0, 0];
    assert.equal(traced, count, name);
    // Times are float64 epoch seconds, which are exact to a quarter of a microsecond.
    assert.ok(Math.abs(sum - seconds) <= 1e-6 * count, `${name}: ${sum} s, not ${seconds} s`);
  }
  const { transfers } = trace;
  for (const [side, direction] of [0, 1].entries()) {
    const rows = Array.from(transfers.direction.keys()).filter(
      (row) => transfers.direction[row] === direction,
    );
    const own = counted.moved.map((worker) => worker[side]!);
    assert.equal(
      rows.length,
      own.reduce((sum, [count]) => sum + count, 0),
    );
    assert.equal(
      rows.reduce((sum, row) => sum + transfers.nbytes[row]!, 0),
      own.reduce((sum, [, bytes]) => sum + bytes, 0),
    );
  }
}

/** The task that takes 0.4 s. Other tasks of its prefix take 10 ms. */
const SLOWEST = /^slow-.*-7$/;

const LIFECYCLE = [
  'submitted',
  'ready',
  'dispatched',
  'received',
  'started',
  'stopped',
  'acknowledged',
] as const;

/** Checks that the times of every task are in order and that the critical path has no gaps. */
export function assertPlausible(trace: Trace): void {
  const { tasks } = trace;
  for (const row of ranRows(trace)) {
    const times = LIFECYCLE.map((name) => tasks[name][row]!).filter((time) => !Number.isNaN(time));
    assert.equal(times.length, LIFECYCLE.length, tasks.keyOf(row));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
      tasks.keyOf(row),
    );
  }
  const flaky = tasks.prefix.findIndex((id) => trace.strings.get(id) === 'flaky');
  assert.equal(tasks.state[flaky], ERRED);
  assert.ok(tasks.stopped[flaky]! > tasks.started[flaky]!);
  const { parts, start, stop, makespan, floor } = criticalPath(trace);
  assert.equal(parts[0]?.start, start);
  assert.equal(parts.at(-1)?.stop, stop);
  for (const [i, part] of parts.entries()) if (i > 0) assert.equal(part.start, parts[i - 1]?.stop);
  assert.ok(floor >= 0.4 && floor <= makespan, `floor ${floor} s`);
}

/** Checks that the slowest task is named as a straggler. On a busy machine other tasks may be as slow. */
export function assertStraggler(trace: Trace): void {
  const stragglers = QUESTIONS.find(({ name }) => name === 'stragglers')?.run(trace).rows ?? [];
  assert.ok(stragglers.some((row) => SLOWEST.test(String(row['Key']))));
  const straggler = findings(trace).find(({ code }) => code === 'stragglers');
  assert.match(straggler?.title ?? '', /'slow'/);
  assert.match(straggler?.evidence.tasks[0] ?? '', SLOWEST);
}

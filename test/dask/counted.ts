// What Dask itself counted while a cluster was watched, and whether a trace has the same.
import assert from 'node:assert/strict';
import { criticalPath, findings, QUESTIONS } from 'longpole/analysis';
import type { Trace } from 'longpole/trace';

/** What `workload.py` tells of Dask's own task stream and transfer logs. */
export interface Counted {
  readonly tasks: number;
  /** `prefix action` → how many, and their seconds. */
  readonly totals: Readonly<Record<string, readonly [count: number, seconds: number]>>;
  /** By worker: incoming and outgoing, how many and their bytes. */
  readonly moved: readonly (readonly (readonly [count: number, bytes: number])[])[];
}

const ERRED = 1;
const ACTIONS = ['compute', 'transfer', 'disk-read', 'disk-write', 'serialize', 'deserialize'];

/** Rows of the runs that gave a result or an error. Dask's task stream has no failures that were tried again. */
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
    assert.ok(prefix !== undefined, 'an interval of a task that the trace does not have');
    add(prefix, ACTIONS[intervals.action[row]!] ?? '', intervals.stop[row]! - intervals.start[row]!);
  }
  return totals;
}

/** The same tasks, the same seconds, the same bytes. */
export function assertCounted(trace: Trace, counted: Counted): void {
  const totals = tracedTotals(trace);
  assert.equal(ranRows(trace).length, counted.tasks);
  assert.deepEqual([...totals.keys()].sort(), Object.keys(counted.totals).sort());
  for (const [name, [count, seconds]] of Object.entries(counted.totals)) {
    const [traced, sum] = totals.get(name) ?? [0, 0];
    assert.equal(traced, count, name);
    // Times are stored as float64 seconds since 1970: exact to a quarter of a microsecond each.
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

/** It takes 0.4 s, the others of its prefix 10 ms. */
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

/** Times in order, and the critical path without gaps. */
export function assertBelievable(trace: Trace): void {
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

/** The one task that took far too long is named. Of a run on a busy machine others may be as long. */
export function assertStraggler(trace: Trace): void {
  const stragglers = QUESTIONS.find(({ name }) => name === 'stragglers')?.run(trace).rows ?? [];
  assert.ok(stragglers.some((row) => SLOWEST.test(String(row['Key']))));
  const straggler = findings(trace).find(({ code }) => code === 'stragglers');
  assert.match(straggler?.title ?? '', /'slow'/);
  assert.match(straggler?.evidence.tasks[0] ?? '', SLOWEST);
}

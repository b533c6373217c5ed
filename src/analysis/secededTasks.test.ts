// Analyses of tasks that secede and wait for tasks that they have submitted, on traces with known answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import type { Trace } from '../trace/trace.js';
import { concurrency } from './concurrency.js';
import { criticalPath } from './criticalPath.js';
import { findings } from './findings/findings.js';
import { partsText } from './pathTexts.test.support.js';
import { simulate } from './simulate.js';
import { timeByPrefix } from './timeTables.js';
import { workerBalance } from './workerBalance.js';

/** A child of `all-0`, which computes for 2 s. */
const child = (number: number, started: number, submitted = 1, computation = 2): SyntheticTask => ({
  key: `part-${number}`,
  started,
  stopped: started + 2,
  submitted,
  ready: submitted,
  dispatched: started,
  computation,
  submitter: 'all-0',
});

const parent = (times: Pick<SyntheticTask, 'stopped' | 'seceded' | 'resumed' | 'waited'>): SyntheticTask => ({
  key: 'all-0',
  started: 0,
  submitted: 0,
  ...times,
});

const traceOf = (tasks: readonly SyntheticTask[]): Trace =>
  syntheticTrace({ workers: [{ name: 'w0' }], tasks });

/** One second, three tasks one after the other, one second. */
const gathered = traceOf([
  child(0, 1),
  child(1, 3),
  child(2, 5),
  parent({ seceded: 1, resumed: 7, stopped: 8 }),
]);

describe('a task that secedes', () => {
  it('works only before and after its wait', () => {
    assert.equal(gathered.tasks.duration.at(-1), 2);
    assert.equal(gathered.totals.prefixes.get('all')?.seconds, 2);
    const rows = timeByPrefix(gathered).rows;
    assert.deepEqual(
      rows.map((row) => [row['Prefix'], row['Duration (s)'] ?? row['Computed (s)']]),
      [
        ['part', 6],
        ['all', 2],
      ],
    );
    assert.ok(concurrency(gathered).rows.every(({ Running: tasks }) => Math.abs(Number(tasks) - 1) < 1e-9));
    assert.equal(workerBalance(gathered).cell(0, 'Busy (%)'), 100);
  });

  it('has the tasks that it waited for on the critical path', () => {
    assert.deepEqual(partsText(criticalPath(gathered)), [
      'compute all-0 0..1',
      'waiting for a worker part-2 1..5',
      'compute part-2 5..7',
      'compute all-0 7..8',
    ]);
  });

  it('computes between two waits', () => {
    const trace = traceOf([
      child(0, 1),
      child(1, 4, 4, 3),
      parent({ seceded: 1, resumed: 6, waited: 4, stopped: 7 }),
    ]);
    assert.deepEqual(partsText(criticalPath(trace)), [
      'compute all-0 0..1',
      'compute part-0 1..3',
      'compute all-0 3..4',
      'compute part-1 4..6',
      'compute all-0 6..7',
    ]);
    assert.equal(criticalPath(trace).floor, 7);
    assert.equal(trace.tasks.duration.at(-1), 3);
    assert.equal(workerBalance(trace).cell(0, 'Busy (%)'), 100);
  });

  it('waits for the task that its thread runs when the result arrives', () => {
    // part-0 ends on the other worker at 3, but part-1 computes on the thread of all-0 until 7.
    const away = { ...child(0, 1), worker: 'w1' };
    const trace = traceOf([
      away,
      { key: 'part-1', started: 1.5, stopped: 7, submitted: 0 },
      parent({ seceded: 1, resumed: 7, waited: 6, stopped: 8 }),
    ]);
    assert.deepEqual(partsText(criticalPath(trace)).slice(-2), [
      'compute part-1 1.5..7',
      'compute all-0 7..8',
    ]);
    // Several short tasks in turn are the worker that it waits for.
    const short = [3, 4, 5, 6].map((at) => ({
      key: `short-${at}`,
      started: at,
      stopped: at + 1,
      submitted: 0,
    }));
    const turns = traceOf([away, ...short, parent({ seceded: 1, resumed: 7, waited: 6, stopped: 8 })]);
    const path = criticalPath(turns, { start: 2 });
    assert.deepEqual(partsText(path), [
      'compute part-0 2..3',
      'waiting for a worker all-0 3..7',
      'compute all-0 7..8',
    ]);
  });

  it('waits for another such task that computes on its thread when the result arrives', () => {
    // part-0 ends on the other worker at 3, when its sibling all-1 has resumed, and computes on the thread of all-0 until 7.
    const trace = traceOf([
      { ...child(0, 1), worker: 'w1' },
      { key: 'all-1', started: 0, submitted: 0, seceded: 0.5, resumed: 2.5, stopped: 7 },
      parent({ seceded: 1, resumed: 7, stopped: 8 }),
    ]);
    assert.deepEqual(partsText(criticalPath(trace)).slice(-2), [
      'compute all-1 2.5..7',
      'compute all-0 7..8',
    ]);
  });

  it('awaits, if it waits for no result', () => {
    const trace = traceOf([parent({ seceded: 1, resumed: 1, waited: 4, stopped: 5 })]);
    assert.deepEqual(partsText(criticalPath(trace)), ['compute all-0 0..1', 'awaiting all-0 1..5']);
  });

  it('waits for its thread while others that waited for the same event compute there one after another', () => {
    // The event is set at 5. Each of the tasks computes for 2 s.
    const waiting = [0, 1, 2].map((i) => {
      const resumed = 5 + 2 * i;
      const times = {
        started: 0,
        submitted: 0,
        seceded: 0.1,
        resumed,
        waited: resumed - 0.1,
        stopped: resumed + 2,
      };
      return { key: `use-${i}`, ...times };
    });
    assert.deepEqual(partsText(criticalPath(traceOf(waiting))), [
      'compute use-2 0..0.1',
      'awaiting use-2 0.1..5',
      'waiting for a worker use-2 5..9',
      'compute use-2 9..11',
    ]);
    // If nothing ran on the thread when it continued, it only waited.
    const late = traceOf([{ ...waiting[0]!, stopped: 6 }, waiting[2]!]);
    assert.deepEqual(partsText(criticalPath(late)).slice(1), [
      'awaiting use-2 0.1..9',
      'compute use-2 9..11',
    ]);
  });

  it('awaits its item of a queue while the thread has little to do', () => {
    // An item comes every 10 ms, and its task computes for 2 ms.
    const tasks = [0, 1, 2].map((i) => {
      const resumed = 1 + 0.01 * i;
      const times = { started: 0, submitted: 0, seceded: 0.1, resumed, waited: resumed - 0.1 };
      return { key: `use-${i}`, ...times, stopped: resumed + 0.002 };
    });
    assert.deepEqual(partsText(criticalPath(traceOf(tasks))).slice(1), [
      'awaiting use-2 0.1..1.02',
      'compute use-2 1.02..1.022',
    ]);
  });

  it('computes after it has left its slot, if it uses the thread', () => {
    const trace = traceOf([parent({ seceded: 1, resumed: 1, waited: 0, stopped: 5 })]);
    assert.deepEqual(partsText(criticalPath(trace)), ['compute all-0 0..5']);
    assert.equal(trace.tasks.duration[0], 5);
  });

  it('does not use its thread while it sleeps after its wait', () => {
    const trace = traceOf([child(0, 1), parent({ seceded: 1, resumed: 3, waited: 5.9, stopped: 7 })]);
    assert.deepEqual(partsText(criticalPath(trace)), [
      'compute all-0 0..1',
      'compute part-0 1..3',
      'awaiting all-0 3..7',
    ]);
    assert.equal(Number(workerBalance(trace).cell(0, 'Computed (s)')).toFixed(3), '3.100');
    assert.equal(criticalPath(trace).floor, 7);
  });

  it('computes between a result and a later call that it awaits', () => {
    // A call of a lock ends at 6, which moves the end of the last wait.
    const trace = traceOf([child(0, 1), parent({ seceded: 1, resumed: 6, waited: 2, stopped: 6 })]);
    assert.deepEqual(partsText(criticalPath(trace)), [
      'compute all-0 0..1',
      'compute part-0 1..3',
      'compute all-0 3..6',
    ]);
    // 1 s, then 2 s, then 3 s of which the half is saved; the first second also takes half as long.
    assert.equal(Number(simulate(trace, { faster: { all: 2 } }).makespan.toFixed(3)), 4);
  });

  it('ends the search for the longest chain if tasks of a damaged file submit each other', () => {
    const times = { started: 1, stopped: 2, submitted: 1 };
    const trace = traceOf([
      { key: 'a', ...times, submitter: 'b' },
      { key: 'b', ...times, submitter: 'a', computation: 2 },
    ]);
    assert.equal(criticalPath(trace).makespan, 1);
  });

  it('takes as long as its longest chain with more workers', () => {
    assert.equal(criticalPath(gathered).floor, 4);
    const rounded = (options = {}): number => Number(simulate(gathered, options).makespan.toFixed(3));
    assert.deepEqual(
      [rounded(), rounded({ workers: 3 }), rounded({ faster: { part: 2 }, workers: 3 })],
      [8, 4, 3],
    );
  });

  it('does not count as blocked, and its worker not as idle', () => {
    const [first, ...others] = findings(gathered);
    assert.equal(first?.code, 'worker-bound');
    assert.deepEqual(others, []);
  });

  it('submits on the critical path without waiting', () => {
    const trace = traceOf([
      { key: 'all-0', started: 0, stopped: 2, submitted: 0 },
      { ...child(0, 2, 1), worker: 'w0' },
    ]);
    assert.deepEqual(partsText(criticalPath(trace)), [
      'compute all-0 0..1',
      'waiting for a worker part-0 1..2',
      'compute part-0 2..4',
    ]);
  });

  it('waits for a slot of its worker, not for the scheduler, while other tasks that await fill all slots', () => {
    // Two slots: in each of three rounds, two tasks await for a second. The scheduler sends the next ones 0.1 s later.
    const waiting = Array.from({ length: 6 }, (_, i): SyntheticTask => {
      const started = 1.2 * Math.floor(i / 2) + (i % 2) * 0.05;
      const times = { started, seceded: started + 0.05, resumed: started + 0.05, stopped: started + 1.1 };
      return { key: `load-${i}`, submitted: 0, ready: 0, dispatched: started, waited: 1.05, ...times };
    });
    const path = criticalPath(traceOf(waiting));
    const rounded = new Map(path.byKind.map(({ kind, seconds }) => [kind, Number(seconds.toFixed(3))]));
    assert.deepEqual(
      [rounded.get('waiting for the scheduler'), path.behind.map(({ prefix }) => prefix)],
      [0.2, ['load']],
    );
    const [first, ...others] = findings(traceOf(waiting));
    assert.deepEqual([first?.code, first?.seconds.toFixed(3), others], ['asynchronous-wait', '2.000', []]);
    assert.match(first?.advice ?? '', /^Raise concurrentTasks, .* 'load' faster\.$/);
  });
});

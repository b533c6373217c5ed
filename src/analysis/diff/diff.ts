// Compares two runs, or two sets of runs, by prefix, span, activity, function and kind of part of the critical path,
// and tests which differences are more than noise.

import { checkArgument, checkOptions, kind, type OptionKinds, TRACE } from '../../base/arguments.js';
import { invalidArgument } from '../../base/errors.js';
import { Printed } from '../../base/printed.js';
import { integerText, percentText } from '../../base/words.js';
import type { StackDiff } from '../../profile/stackDiff.js';
import { TASK_ERRED } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';
import { type CoreUse, coreUseOf } from '../coreUse.js';
import { criticalPath } from '../criticalPath.js';
import { bootstrapRatio, mean, pairedPermutationTest, permutationTest, smallestP } from '../statistics.js';
import { rowColumns, Table } from '../table.js';
import {
  ALL_TASKS,
  activitySeconds,
  type GroupSamples,
  graphOrder,
  groupSamples,
  metricSeconds,
} from './samples.js';
import { functionSamples, NO_SECONDS, stackDiff, stackTable } from './stacks.js';
import { type DiffKind, type DiffRow, type Draft, judged, SINGLE_RUN_NOISE } from './verdicts.js';

export type { DiffKind, DiffRow, Verdict } from './verdicts.js';

export interface DiffOptions {
  /** Share by which a run may become slower, e.g. 0.05. Default: no limit. */
  readonly failOver?: number;
}

const OPTIONS: OptionKinds<DiffOptions> = {
  failOver: kind(
    'a share of at least 0, e.g. 0.05 for 5 %',
    (value) => typeof value === 'number' && value >= 0,
  ),
};

/** Largest p-value at which the gate fails a run. One-sided, because only slower runs count. */
const GATE = 0.05;
/** Minimum number of runs on each side for a test over runs. Three runs on each side can reach p = 0.05. */
const MIN_RUNS = 3;
/**
 * Share by which all tasks of a run may be slower than those of another run because of the machine. Measured: 23 %.
 * Below it, a test over pairs of tasks has no meaning.
 */
const SINGLE_RUN_DRIFT = 0.25;
/** Share of the tasks' time without a core from which the reason has it, if other programs used the cores. */
const CROWDED = 0.1;
/** Minimum number of samples of a run for a test. */
const MIN_SAMPLES = 5;

/**
 * Adds checks that no limit covers: fails if a run has no tasks, and mentions failed tasks if there are more after than
 * before.
 */
function checked(
  gated: Gate,
  before: readonly Run[],
  after: readonly Run[],
  failOver: number | undefined,
  isAlone: boolean,
): Gate {
  const isEmpty = ({ all }: Run): boolean => all.size === 0;
  const failures = (runs: readonly Run[]): number => runs.reduce((sum, { erred }) => sum + erred, 0);
  const nothing = [...before, ...after].every(isEmpty);
  if (nothing) return { failed: false, reason: 'There is nothing to compare: no tasks ran.' };
  const sides = [before.some(isEmpty) ? 'before' : '', after.some(isEmpty) ? 'after' : ''].filter(Boolean);
  if (sides.length > 0) {
    const which = sides.map((side) => `a run ${side}`).join(' and ');
    const reason = `Not comparable: ${which} ${sides.length === 1 ? 'has' : 'have'} no tasks that ran.`;
    return { failed: failOver !== undefined, reason };
  }
  const shared = { ...gated, reason: gated.reason + crowdText(before, after, isAlone) };
  if (failures(after) * before.length <= failures(before) * after.length) return shared;
  const counts = `${integerText(failures(after))} after, ${integerText(failures(before))} before`;
  return { ...shared, reason: `${shared.reason} Tasks failed: ${counts}.` };
}

/** Returns a sentence if other programs slowed a run down, because a difference may then come from them. */
function crowdText(before: readonly Run[], after: readonly Run[], isAlone: boolean): string {
  const isCrowded = ({ cores: { lost, others } }: Run): boolean => lost >= CROWDED && others >= CROWDED;
  if (![...before, ...after].some(isCrowded)) return '';
  const of = (runs: readonly Run[], value: 'lost' | 'others') => mean(runs.map(({ cores }) => cores[value]));
  const share = (runs: readonly Run[]) => percentText(of(runs, 'lost'));
  const others = (runs: readonly Run[]) => of(runs, 'others').toFixed(1);
  return ` Tasks waited for a core ${share(after)} of their time after, ${share(before)} before, while other programs used ${others(after)} and ${others(before)} cores: ${isAlone ? 'the makespan and the limit include these waits, the other rows of tasks do not. Record again on a quiet machine' : 'compare the seconds of CPU, or record again on a quiet machine'}.`;
}

type Gate = Pick<Diff, 'failed' | 'reason'>;

export class Diff extends Printed {
  /** Rows of the whole run, then the other rows, the largest change first. */
  readonly rows: readonly DiffRow[];
  /** True if the run became slower by more than `failOver`, and by more than noise. */
  readonly failed: boolean;
  /** Reason for `failed` in one sentence. */
  readonly reason: string;
  /** Call tree with the seconds before and after; undefined unless all runs have samples. */
  readonly stacks: StackDiff | undefined;

  constructor(rows: readonly DiffRow[], { failed, reason }: Gate, stacks: StackDiff | undefined) {
    super();
    this.rows = rows;
    this.failed = failed;
    this.reason = reason;
    this.stacks = stacks;
  }

  toTable(): Table {
    const { texts, numbers } = rowColumns(this.rows);
    const percent = (ratio: number) => (Number.isFinite(ratio) ? (ratio - 1) * 100 : Number.NaN);
    return new Table([
      texts('What', ({ kind }) => kind),
      texts('Name', ({ name }) => name),
      texts('Verdict', ({ verdict }) => verdict),
      numbers('Before (s)', ({ before }) => before),
      numbers('After (s)', ({ after }) => after),
      numbers('Change (s)', ({ change }) => change),
      numbers('Change (%)', ({ ratio }) => percent(ratio)),
      numbers('Low (%)', ({ low }) => percent(low)),
      numbers('High (%)', ({ high }) => percent(high)),
      numbers('p', ({ p }) => p),
    ]);
  }

  /** Returns the functions whose time in a call stack changed; undefined unless all runs have samples. */
  stacksTable(): Table | undefined {
    return this.stacks === undefined ? undefined : stackTable(this.stacks);
  }

  override toString(): string {
    return this.toTable().toString();
  }
}

/**
 * Compares runs before and after a change. The result is deterministic.
 *
 * With three or more runs on each side, every row is tested over the runs. If these runs are too few for the number of
 * rows, a row differs if every run after differs from every run before by more than 5 %, and the test over sections of
 * the runs agrees. With fewer runs, sections of consecutive tasks are tested instead of runs (as pairs for a difference
 * beyond 25 % of runs with the same number of tasks). A difference must then also exceed 5 %, the noise between two
 * runs.
 *
 * @param a the run before, or several runs of the same program
 * @param b the run after, or several runs
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a side has no runs, or `failOver` is negative
 */
export function diff(
  a: Trace | readonly Trace[],
  b: Trace | readonly Trace[],
  options: DiffOptions = {},
): Diff {
  checkOptions('diff()', options, OPTIONS);
  const [first, second] = [listOf(a, 'first'), listOf(b, 'second')];
  // Waits for a core are those of other programs. The makespan and the gate include them.
  const isAlone = [...first, ...second].every((trace) => coreUseOf(trace).isMeasured);
  const of = (trace: Trace) => runOf(trace, isAlone);
  const [before, after] = [first.map(of), second.map(of)];
  const { failOver } = options;
  const stacks = stackDiff(first, second);
  // Metrics have other activities than intervals.
  const areAlike = new Set([...first, ...second].map((trace) => metricSeconds(trace).size > 0)).size === 1;
  const spans = names(before, after, (run) => run.spans);
  const draftsWith = (all: (run: Run) => Run['all']) => [
    ...sumRows('run', before, after, (run) => new Map([['makespan', run.makespan]])),
    ...taskRows('run', before, after, all),
    ...taskRows('prefix', before, after, (run) => run.prefixes),
    ...(spans.length > 1 ? taskRows('span', before, after, (run) => run.spans) : []),
    ...(areAlike ? sumRows('activity', before, after, (run) => run.activities) : []),
    ...sumRows('path', before, after, (run) => run.path),
    ...(stacks === undefined ? [] : taskRows('function', before, after, (run) => run.functions, NO_SECONDS)),
  ];
  const rows = judged(draftsWith((run) => run.all)).sort(
    (x, y) => Number(y.kind === 'run') - Number(x.kind === 'run') || Math.abs(y.change) - Math.abs(x.change),
  );
  const hasRuns = Math.min(before.length, after.length) >= MIN_RUNS;
  const gated = isAlone ? judged(draftsWith((run) => run.wall)) : rows;
  return new Diff(rows, checked(gate(gated, failOver, hasRuns), before, after, failOver, isAlone), stacks);
}

interface Run {
  readonly makespan: number;
  readonly cores: CoreUse;
  /** Number of task runs that ended with an error. */
  readonly erred: number;
  /** All tasks. Like the other groups without waits for a core, if all runs measured them. */
  readonly all: ReadonlyMap<string, GroupSamples>;
  /** All tasks with their waits for a core. */
  readonly wall: ReadonlyMap<string, GroupSamples>;
  readonly prefixes: ReadonlyMap<string, GroupSamples>;
  readonly spans: ReadonlyMap<string, GroupSamples>;
  readonly functions: ReadonlyMap<string, GroupSamples>;
  readonly activities: ReadonlyMap<string, number>;
  readonly path: ReadonlyMap<string, number>;
}

function listOf(traces: Trace | readonly Trace[], side: string): readonly Trace[] {
  const list = Array.isArray(traces) ? traces : [traces];
  for (const trace of list) checkArgument(`diff(): the ${side} side`, trace, TRACE);
  if (list.length > 0) return list;
  throw invalidArgument(`diff(): the ${side} side has no traces. Pass at least one trace.`);
}

function runOf(trace: Trace, isAlone: boolean): Run {
  const path = criticalPath(trace);
  const order = graphOrder(trace);
  const { duration } = trace.tasks;
  const withWaits = (row: number): number => duration[row]!;
  const own = isAlone ? coreUseOf(trace).aloneSeconds : withWaits;
  const together = (secondsOf: (row: number) => number): Run['all'] => {
    const all = groupSamples(trace, 'all', order, secondsOf).get(ALL_TASKS);
    return new Map(all === undefined ? [] : [['all tasks', all]]);
  };
  return {
    makespan: path.makespan || 0,
    cores: coreUseOf(trace),
    erred: trace.totals.states[TASK_ERRED] ?? 0,
    all: together(own),
    wall: together(withWaits),
    prefixes: groupSamples(trace, 'prefix', order, own),
    spans: groupSamples(trace, 'span', order, own),
    functions: functionSamples(trace),
    activities: activitySeconds(trace),
    path: new Map(path.byKind.map(({ kind, seconds }) => [kind, seconds])),
  };
}

/** Returns rows with one number per run, without samples inside the run. */
function sumRows(
  kind: DiffKind,
  before: readonly Run[],
  after: readonly Run[],
  sums: (run: Run) => ReadonlyMap<string, number>,
): Draft[] {
  return names(before, after, sums).map((name) => {
    const of = (runs: readonly Run[]) => runs.map((run) => sums(run).get(name) ?? 0);
    return { kind, name, ...compared(of(before), of(after)) };
  });
}

/** Returns rows of tasks. Several runs are compared by their sums, single runs by sections of consecutive tasks. */
function taskRows(
  kind: DiffKind,
  before: readonly Run[],
  after: readonly Run[],
  groups: (run: Run) => ReadonlyMap<string, GroupSamples>,
  absent?: GroupSamples,
): Draft[] {
  return names(before, after, groups).map((name) => {
    const of = (runs: readonly Run[]) => runs.map((run) => groups(run).get(name) ?? absent);
    const [a, b] = [of(before), of(after)];
    const sums = (side: typeof a) => side.map((group) => group?.seconds ?? 0);
    const row = compared(sums(a), sums(b));
    if (row.isSingle) return { kind, name, ...row, ...byStretches(kind, a, b, row.after / row.before) };
    const isApart = areApart(sums(a), sums(b));
    return {
      kind,
      name,
      ...row,
      ...(isApart ? { within: () => byStretches(kind, a, b, row.after / row.before).p ?? 1 } : {}),
    };
  });
}

/**
 * Returns true if every run of one side took longer than all runs of the other, by more than the noise of single runs.
 */
function areApart(a: readonly number[], b: readonly number[]): boolean {
  const isAbove = (high: readonly number[], low: readonly number[]): boolean =>
    Math.min(...high) > Math.max(...low) * (1 + SINGLE_RUN_NOISE);
  return isAbove(a, b) || isAbove(b, a);
}

type Side = readonly (GroupSamples | undefined)[];

/** Tests the sections of all runs of two sides. Returns an empty object if there are too few sections. */
function byStretches(
  kind: DiffKind,
  before: Side,
  after: Side,
  ratio: number,
): Partial<Pick<Draft, 'p' | 'low' | 'high'>> {
  const means = (side: Side) => side.flatMap((group) => Array.from(group?.means ?? []));
  const counts = (side: Side) => mean(side.map((group) => group?.count ?? 0));
  const more = counts(after) / counts(before);
  const [x, y] = [means(before), means(after)];
  // The number of tasks does not vary by chance.
  if (Math.abs(more - 1) > SINGLE_RUN_NOISE) return { p: 0 };
  if (x.length < MIN_SAMPLES || y.length < MIN_SAMPLES) return {};
  // Sections of two runs with the same number of tasks have the same tasks, so they can be compared in pairs.
  const isOne = kind !== 'function' && before.length === 1 && after.length === 1 && more === 1;
  const paired = isOne && Math.abs(ratio - 1) > SINGLE_RUN_DRIFT;
  const { low, high } = bootstrapRatio(x, y, paired);
  const p = paired ? pairedPermutationTest(x, y) : permutationTest(x, y);
  return { p, low: low * more, high: high * more };
}

function names(
  before: readonly Run[],
  after: readonly Run[],
  of: (run: Run) => ReadonlyMap<string, unknown>,
): string[] {
  return [...new Set([...before, ...after].flatMap((run) => [...of(run).keys()]))];
}

function compared(a: readonly number[], b: readonly number[]): Omit<Draft, 'kind' | 'name'> {
  const sides = { before: mean(a), after: mean(b) };
  const isSingle = Math.min(a.length, b.length) < MIN_RUNS;
  const reach = smallestP(a.length, b.length);
  if (isSingle) return { ...sides, isSingle, reach, low: Number.NaN, high: Number.NaN, p: Number.NaN };
  return { ...sides, isSingle, reach, ...bootstrapRatio(a, b), p: permutationTest(a, b) };
}

function changeText(ratio: number): string {
  if (ratio === Number.POSITIVE_INFINITY) return 'grew from 0 s';
  const percent = (Math.abs(ratio - 1) * 100).toFixed(1);
  return percent === '0.0' ? 'is the same' : `${ratio > 1 ? 'grew' : 'shrank'} by ${percent} %`;
}

/**
 * Fails if the makespan, or the work of all tasks, grew by more than the limit and more than noise. With several runs,
 * a permutation test detects noise. For single runs, the limit is 5 % higher.
 */
function gate(rows: readonly DiffRow[], failOver: number | undefined, hasRuns: boolean): Gate {
  const makespan = rows.find(({ name, kind }) => kind === 'run' && name === 'makespan');
  if (makespan === undefined) return { failed: false, reason: 'There is nothing to compare.' };
  const text = ({ name, ratio }: DiffRow) =>
    `${name === 'makespan' ? 'the makespan' : 'the work of all tasks'} ${changeText(ratio)}`;
  if (failOver === undefined) return { failed: false, reason: `No limit was given; ${text(makespan)}.` };
  const isOver = ({ ratio, p }: DiffRow) =>
    hasRuns
      ? ratio > 1 + failOver && p / 2 <= GATE
      : ratio > 1 + failOver + SINGLE_RUN_NOISE && !(p / 2 > GATE);
  const over = rows.find((row) => row.kind === 'run' && isOver(row));
  const limit = `${Number((failOver * 100).toPrecision(3))} %`;
  if (over !== undefined)
    return { failed: true, reason: `Slower than allowed: ${text(over)}, the limit is ${limit}.` };
  const within = makespan.ratio <= 1 + failOver;
  const why = within
    ? `the limit is ${limit}`
    : hasRuns
      ? `which is not more than noise (p = ${makespan.p.toFixed(2)})`
      : `which is not more than the noise of single runs; record at least ${MIN_RUNS} runs on each side for a sharper test`;
  return { failed: false, reason: `Passed: ${text(makespan)}, ${why}.` };
}

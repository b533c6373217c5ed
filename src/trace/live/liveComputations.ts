// The computations that a live trace holds: those of the cluster, and those with rows in the window.

import { getOrMake, once } from '../../base/lookUps.js';
import {
  type Computation,
  type EndReason,
  prefixOf,
  TASK_CANCELLED,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  TASK_SKIPPED,
  type TaskRuns,
} from '../../protocol/clusterObserver.js';
import { OTHERS } from '../../protocol/metrics.js';
import { MAX_OPEN, type OpenState, type OpenTask } from '../../protocol/openGraph.js';
import type { StringTable } from '../stringTable.js';
import type { PrefixSums, TotalSums } from '../totals.js';
import type { TraceComputation } from '../trace.js';
import { CopiedPage, type NameIds, SharedPage, type TaskPage } from './taskPages.js';

/** Number of tasks from which a computation is referenced instead of copied. */
const LARGE = 512;
/** Limit for the names of functions, and for the names of spans. */
const MAX_NAMES = 10_000;

export class LiveComputation implements TraceComputation {
  readonly number: number;
  readonly firstId: number;
  readonly size: number;
  readonly start: number;
  /** Time at which its tasks were submitted. */
  readonly prepared: number;
  readonly submitted: number;
  readonly client: string;
  readonly code: string;
  readonly page: TaskPage;
  /** Slot of local id 0 in `page`. */
  readonly slot: number;
  stop = Number.NaN;
  /** Number of its latest row, counted with evicted rows. */
  lastRow = -1;
  forgotten = false;

  constructor(computation: Computation, page: TaskPage, slot: number) {
    this.number = computation.number;
    this.firstId = computation.firstId;
    this.size = computation.size;
    this.start = computation.called ?? computation.submitted;
    this.prepared = computation.prepared ?? Number.NaN;
    this.submitted = computation.submitted;
    this.client = computation.client;
    this.code = computation.code;
    this.page = page;
    this.slot = slot;
  }

  get keys(): readonly string[] {
    return Array.from({ length: this.size }, (_, local) => this.page.keyAt(this.slot + local));
  }

  /** Returns an immutable copy of the current state. */
  freeze(): TraceComputation {
    const { number, firstId, size, start, prepared, stop, client, code } = this;
    const keys = once(() => this.keys);
    return {
      ...{ number, firstId, size, start, prepared, stop, client, code },
      get keys() {
        return keys();
      },
    };
  }
}

/** State of a computation until the cluster forgets it. */
export interface KnownComputation {
  readonly live: LiveComputation;
  /** Sums by index into the computation's prefixes. */
  readonly sums: readonly PrefixSums[];
  /** Tasks that have not ended, by index into the computation's prefixes. */
  readonly open: Int32Array;
  /** 0, GIVEN, or 1 + the state of the latest run or why the task was dropped, by local id. */
  readonly ended: Uint8Array;
}

/** In `ended`: a result that the computation reuses. It is no task, unless it is lost and computed again. */
const GIVEN = 255;

/** Counts the end of a task, if `before`, the value in `ended`, says that it is the first one. */
function countEnd(totals: TotalSums, { sums, open }: KnownComputation, prefix: number, before: number): void {
  if (before === GIVEN) sums[prefix]!.tasksIn(totals.graph).total++;
  if (before !== 0) return;
  open[prefix]!--;
  totals.unfinished--;
}

/** Adds completed runs to the totals, task by task. */
export function addRuns(totals: TotalSums, known: KnownComputation, runs: TaskRuns): void {
  const { sums, ended } = known;
  const { count, ids, states, nbytes, started, stopped, waited } = runs;
  const { prefixOf } = runs.computation;
  let [timed, busy, bytes] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const id = ids[i]!;
    const state = states[i]!;
    const seconds = stopped[i]! - started[i]! - (waited?.[i] || 0);
    const prefix = prefixOf[id]!;
    const of = sums[prefix];
    if (of !== undefined) {
      of.add(state, seconds, nbytes[i]!);
      const before = ended[id]!;
      of.tasksIn(totals.graph).ended(state, before);
      // A task counts once, by its latest run: lost results are computed again, and failed tasks are retried.
      if (state !== TASK_LOST) {
        countEnd(totals, known, prefix, before);
        ended[id] = state + 1;
      }
    }
    totals.states[state]! += 1;
    if (seconds >= 0) {
      timed++;
      busy += seconds;
    }
    if (state === TASK_MEMORY && nbytes[i]! > 0) bytes += nbytes[i]!;
  }
  totals.addStart(runs.computation.submitted);
  totals.offeredTime.add(runs.computation.submitted, runs.acknowledged);
  totals.addBusy(runs.worker, busy);
  totals.addAction(0, timed, busy, bytes);
}

export class LiveComputations {
  readonly #names: StringTable;
  readonly #totals: TotalSums;
  readonly #known = new Map<Computation, KnownComputation>();
  readonly #functions = new FirstNames();
  readonly #spans = new FirstNames();
  /** Name → its id alone, for computations of one task. Both tables have the same limits. */
  readonly #single = new Map<string, Int32Array>();
  #all: LiveComputation[] = [];
  #page = new CopiedPage();

  constructor(names: StringTable, totals: TotalSums) {
    this.#names = names;
    this.#totals = totals;
  }

  get count(): number {
    return this.#all.length;
  }

  /** Computations in the order of their numbers. */
  get all(): readonly LiveComputation[] {
    return this.#all;
  }

  /**
   * Returns the state of a computation. Adds the computation if its runs are the first that this observer receives of
   * it.
   */
  of(computation: Computation): KnownComputation {
    return this.#known.get(computation) ?? this.#add(computation);
  }

  unendedTasks(processing: ReadonlySet<number>): OpenTask[] | undefined {
    return unendedTasks(this.#known, this.#totals.unfinished, processing);
  }

  #add(computation: Computation): KnownComputation {
    const open = openTasks(computation);
    // Scattered data and reused results are no tasks.
    if (computation.size > (computation.given?.length ?? 0)) this.#totals.addGraph(computation.submitted);
    const sums = computation.prefixes.map((prefix) => this.#totals.prefix(prefix));
    const names = this.#nameIds(computation, sums);
    let live: LiveComputation;
    if (computation.size >= LARGE) {
      live = new LiveComputation(computation, new SharedPage(computation, names), 0);
    } else {
      if (this.#page.full) this.#page = new CopiedPage();
      live = new LiveComputation(computation, this.#page, this.#page.add(computation, names));
    }
    const known = { live, sums, open, ended: new Uint8Array(computation.size) };
    for (const id of computation.given ?? []) known.ended[id] = GIVEN;
    for (let prefix = 0; prefix < open.length; prefix++) {
      const count = open[prefix]!;
      if (count > 0) sums[prefix]!.tasksIn(this.#totals.graph).total += count;
      this.#totals.unfinished += count;
    }
    this.#known.set(computation, known);
    this.#insert(live);
    return known;
  }

  /** Inserts by number. Numbers ascend unless the observer was added late. */
  #insert(live: LiveComputation): void {
    const all = this.#all;
    let at = all.length;
    while (at > 0 && all[at - 1]!.number > live.number) at--;
    if (at === all.length) all.push(live);
    else all.splice(at, 0, live);
  }

  /** Counts tasks that have no result and will not run. Those with another run are counted by that run. */
  dropped(computation: Computation, ids: readonly number[], why: EndReason): void {
    const known = this.of(computation);
    const { sums, ended } = known;
    for (const id of ids) {
      const before = ended[id]!;
      if (before !== 0 && before !== 1 + TASK_CANCELLED) continue;
      const prefix = computation.prefixOf[id]!;
      sums[prefix]!.tasksIn(this.#totals.graph).ended(why, before);
      ended[id] = 1 + why;
      countEnd(this.#totals, known, prefix, before);
    }
  }

  forget(computation: Computation): void {
    const known = this.#known.get(computation);
    if (known === undefined) return;
    known.live.forgotten = true;
    // Tasks that have not ended will never run.
    for (let prefix = 0; prefix < known.open.length; prefix++) {
      const open = known.open[prefix]!;
      if (open > 0) known.sums[prefix]!.tasksIn(this.#totals.graph).cancelled += open;
      this.#totals.unfinished -= open;
    }
    this.#known.delete(computation);
  }

  /** Removes forgotten computations without a row from `firstRow` on. */
  sweep(firstRow: number): void {
    this.#all = this.#all.filter(({ forgotten, lastRow }) => !forgotten || lastRow >= firstRow);
  }

  /**
   * Returns the ids of a computation's names. The trace never frees names, so their number is limited: prefixes that
   * the totals count as OTHERS become OTHERS, and functions and spans have a limit of their own.
   */
  #nameIds({ functions, spans }: Computation, sums: readonly PrefixSums[]): NameIds {
    const made = (texts: readonly string[]): Int32Array =>
      Int32Array.from(texts, (text) => this.#names.internString(text));
    const ids = (texts: readonly string[]): Int32Array =>
      texts.length === 1 ? getOrMake(this.#single, texts[0]!, () => made(texts)) : made(texts);
    return {
      prefixes: ids(sums.map(({ prefix }) => prefix)),
      functions: ids(functions.map((name) => this.#functions.of(name))),
      spans: ids(spans.map((span) => this.#spans.of(span.join('/')))),
    };
  }
}

/** Returns the first MAX_NAMES names unchanged, and OTHERS for later names. */
class FirstNames {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= MAX_NAMES) return OTHERS;
    this.#known.add(name);
    return name;
  }
}

/** Returns the number of tasks by index into the prefixes, without tasks whose results already existed. */
function openTasks({ prefixes, prefixOf, given }: Computation): Int32Array {
  const open = new Int32Array(prefixes.length);
  for (let id = 0; id < prefixOf.length; id++) open[prefixOf[id]!]!++;
  if (given !== undefined) for (const id of given) open[prefixOf[id]!]!--;
  return open;
}

/** `ended`: as in KnownComputation. */
type Known = ReadonlyMap<Computation, { readonly ended: Uint8Array }>;

/**
 * Returns the tasks of the current graph whose runs have not ended, with their states; undefined if there are more than
 * MAX_OPEN. Only the graph page asks for them. The answer costs some microseconds per task.
 *
 * @param processing ids of the tasks that workers have
 */
function unendedTasks(
  known: Known,
  unfinished: number,
  processing: ReadonlySet<number>,
): OpenTask[] | undefined {
  if (unfinished > MAX_OPEN) return undefined;
  const open = new Map<number, Omit<OpenTask, 'state'>>();
  const erred = new Set<number>();
  for (const [computation, { ended }] of known) {
    for (const [local, end] of ended.entries()) {
      const id = computation.firstId + local;
      // A worker may have a task again whose result was lost, or that is retried.
      const isOpen = end === 0 || end === 1 + TASK_SKIPPED || processing.has(id);
      if (isOpen) open.set(id, taskOf(computation, local));
      else if (end === 1 + TASK_ERRED) erred.add(id);
    }
  }
  addDependents(open, erred);
  const stateOf = ({ id, dependencies }: Omit<OpenTask, 'state'>): OpenState => {
    if (processing.has(id)) return 'processing';
    if (erred.has(id)) return 'erred';
    return dependencies.some((dependency) => open.has(dependency)) ? 'waiting' : 'queued';
  };
  return Array.from(open.values(), (task) => ({ ...task, state: stateOf(task) }));
}

function taskOf(computation: Computation, local: number): Omit<OpenTask, 'state'> {
  const { firstId, size, keys } = computation;
  const { dependencies, dependencyOffsets, externals } = computation;
  const needed = dependencies.subarray(dependencyOffsets[local], dependencyOffsets[local + 1]);
  return {
    id: firstId + local,
    key: keys[local] ?? '',
    prefix: prefixOf(computation, local),
    dependencies: Array.from(needed, (one) => (one < size ? firstId + one : externals[one - size]!)),
  };
}

/** Adds the tasks that need a failed task to the failed tasks. */
function addDependents(open: ReadonlyMap<number, Omit<OpenTask, 'state'>>, erred: Set<number>): void {
  let before = -1;
  while (erred.size > 0 && erred.size !== before) {
    before = erred.size;
    for (const { id, dependencies } of open.values())
      if (dependencies.some((dependency) => erred.has(dependency))) erred.add(id);
  }
}

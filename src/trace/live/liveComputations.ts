// The computations that a live trace still knows: those that the cluster holds, and those that rows of the window belong to.
import type { Computation } from '../../protocol/clusterObserver.js';
import { OTHERS } from '../../protocol/metrics.js';
import type { StringTable } from '../stringTable.js';
import type { PrefixSums, TotalSums } from '../totals.js';
import type { TraceComputation } from '../trace.js';
import { CopiedPage, type NameIds, SharedPage, type TaskPage } from './taskPages.js';

/** From this many tasks on a computation is not copied. */
const LARGE = 512;
/** As many functions and spans have names of their own. */
const MAX_NAMES = 10_000;

/** One computation in the live trace. */
export class LiveComputation implements TraceComputation {
  readonly number: number;
  readonly firstId: number;
  readonly size: number;
  readonly start: number;
  /** Of its tasks. */
  readonly submitted: number;
  readonly client: string;
  readonly code: string;
  readonly page: TaskPage;
  /** Where local id 0 stands in `page`. */
  readonly slot: number;
  stop = Number.NaN;
  /** Of the latest row; counts rows that were let go, too. */
  lastRow = -1;
  forgotten = false;

  constructor(computation: Computation, page: TaskPage, slot: number) {
    this.number = computation.number;
    this.firstId = computation.firstId;
    this.size = computation.size;
    this.start = computation.called ?? computation.submitted;
    this.submitted = computation.submitted;
    this.client = computation.client;
    this.code = computation.code;
    this.page = page;
    this.slot = slot;
  }

  get keys(): readonly string[] {
    return Array.from({ length: this.size }, (_, local) => this.page.keyAt(this.slot + local));
  }

  /** As it stands now. */
  freeze(): TraceComputation {
    const { number, firstId, size, start, stop, client, code } = this;
    let keys: readonly string[] | undefined;
    const make = (): readonly string[] => this.keys;
    return {
      number,
      firstId,
      size,
      start,
      stop,
      client,
      code,
      get keys() {
        keys ??= make();
        return keys;
      },
    };
  }
}

/** What is needed while the cluster can still tell of a computation. */
export interface KnownComputation {
  readonly live: LiveComputation;
  /** By index into the computation's prefixes. */
  readonly sums: readonly PrefixSums[];
  /** By index into the computation's prefixes: tasks that have not ended. */
  readonly open: Int32Array;
  /** By local id: 0, or 1 + the state in which the latest run ended. */
  readonly ended: Uint8Array;
}

export class LiveComputations {
  readonly #names: StringTable;
  readonly #totals: TotalSums;
  readonly #known = new Map<Computation, KnownComputation>();
  readonly #functions = new FirstNames();
  readonly #spans = new FirstNames();
  #all: LiveComputation[] = [];
  #page = new CopiedPage();

  constructor(names: StringTable, totals: TotalSums) {
    this.#names = names;
    this.#totals = totals;
  }

  get count(): number {
    return this.#all.length;
  }

  /** Newest last. */
  get all(): readonly LiveComputation[] {
    return this.#all;
  }

  /** An observer that came late meets a computation with its first runs. */
  of(computation: Computation): KnownComputation {
    return this.#known.get(computation) ?? this.#add(computation);
  }

  #add(computation: Computation): KnownComputation {
    const sums = computation.prefixes.map((prefix) => this.#totals.prefix(prefix));
    const names = this.#nameIds(computation, sums);
    let live: LiveComputation;
    if (computation.size >= LARGE) {
      live = new LiveComputation(computation, new SharedPage(computation, names), 0);
    } else {
      if (this.#page.full) this.#page = new CopiedPage();
      live = new LiveComputation(computation, this.#page, this.#page.add(computation, names));
    }
    const known = {
      live,
      sums,
      open: openTasks(computation),
      ended: new Uint8Array(computation.size),
    };
    for (const [prefix, count] of known.open.entries()) known.sums[prefix]!.tasks.total += count;
    this.#known.set(computation, known);
    this.#insert(live);
    return known;
  }

  /** Numbers ascend, but for computations that an observer met late. */
  #insert(live: LiveComputation): void {
    const all = this.#all;
    let at = all.length;
    while (at > 0 && all[at - 1]!.number > live.number) at--;
    if (at === all.length) all.push(live);
    else all.splice(at, 0, live);
  }

  forget(computation: Computation): void {
    const known = this.#known.get(computation);
    if (known === undefined) return;
    known.live.forgotten = true;
    // Tasks that have not ended never will.
    for (const [prefix, open] of known.open.entries())
      known.sums[prefix]!.tasks.cancelled += Math.max(0, open);
    this.#known.delete(computation);
  }

  /** Lets go of those that nothing will be told of any more and that have no row from `firstRow` on. */
  sweep(firstRow: number): void {
    this.#all = this.#all.filter(({ forgotten, lastRow }) => !forgotten || lastRow >= firstRow);
  }

  /**
   * Names stay as long as the trace, so there is a limit to those that a program makes up: rows of a prefix that the totals
   * count as OTHERS say so as well, and functions and spans have a limit of their own.
   */
  #nameIds({ functions, spans }: Computation, sums: readonly PrefixSums[]): NameIds {
    const ids = (texts: readonly string[]): Int32Array =>
      Int32Array.from(texts, (text) => this.#names.internString(text));
    return {
      prefixes: ids(sums.map(({ prefix }) => prefix)),
      functions: ids(functions.map((name) => this.#functions.of(name))),
      spans: ids(spans.map((span) => this.#spans.of(span.join('/')))),
    };
  }
}

/** The first MAX_NAMES names, and OTHERS for the names after them. */
class FirstNames {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= MAX_NAMES) return OTHERS;
    this.#known.add(name);
    return name;
  }
}

/** By index into the prefixes: the tasks of a computation without those whose results were there already. */
function openTasks({ prefixes, prefixOf, given }: Computation): Int32Array {
  const open = new Int32Array(prefixes.length);
  for (const prefix of prefixOf) open[prefix]!++;
  for (const id of given ?? []) open[prefixOf[id]!]!--;
  return open;
}

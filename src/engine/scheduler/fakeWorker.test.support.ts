// A worker of a simulated cluster: an isolate that keeps results and drops them by counting uses, and a store beside
// it. It behaves like a real worker, one step at a time. It fails a test if an input is missing that was not reported
// as missing. Task names stay the same when the scheduler's ids change.
import assert from 'node:assert/strict';
import {
  KIND_NUMBER,
  KIND_PRIVATE,
  KIND_SKIPPED,
  KIND_STORED,
  KIND_VALUE,
} from '../../protocol/resultKinds.js';
import { resultOf } from './schedulerGraphs.test.support.js';

/** Number of the graph × 1000 + task. */
export type Name = number;
export const GRAPH_NAMES = 1000;

export interface FakeTask {
  readonly dependencies: readonly number[];
  /** Number of times that the task throws before it succeeds. */
  readonly throws: number;
  /** True if the worker dies whenever it starts the task. */
  readonly kills: boolean;
  /** True if the task leaves its slot, and ends in any order. */
  readonly secedes: boolean;
  /**
   * Kind of the result. Scalars are always sent. Requested small results are sent inline, and requested large ones go
   * to the store. Bound results cannot leave their isolate.
   */
  readonly size: 'scalar' | 'small' | 'large' | 'bound';
}

export interface FakeGraph {
  readonly tasks: readonly FakeTask[];
  readonly dependentCounts: readonly number[];
  /** Import → its original, which is no import. */
  readonly imports: ReadonlyMap<number, Name>;
}

export interface Finished {
  readonly type: 'finished';
  readonly name: Name;
  readonly batch: number;
  readonly kind: number;
  readonly value: number;
}

/** Messages of the worker, in this order. */
export type SentMessage =
  | Finished
  | { readonly type: 'seceded'; readonly name: Name; readonly batch: number }
  /** `batch` is undefined if a finished result cannot be sent. */
  | { readonly type: 'threw'; readonly name: Name; readonly batch: number | undefined }
  | { readonly type: 'missing'; readonly holder: number; readonly name: Name }
  | { readonly type: 'stolen'; readonly names: readonly Name[] }
  | {
      readonly type: 'fetched';
      readonly inline: ReadonlyMap<Name, number>;
      readonly stored: readonly Name[];
      readonly missing: readonly Name[];
    };

/** An input that comes from a store. */
export interface Gather {
  readonly holder: number;
  readonly origin: Name;
}

interface Entry {
  readonly name: Name;
  readonly batch: number;
  publish: boolean;
}

export interface FakeWorld {
  readonly graphs: readonly FakeGraph[];
  readonly workers: ReadonlyMap<number, FakeWorker>;
  readonly runs: Map<Name, number>;
  readonly keepsStoreCopies: boolean;
}

const NEVER_COUNTED = Number.POSITIVE_INFINITY;

export function taskOf(world: FakeWorld, name: Name): FakeTask {
  return world.graphs[Math.floor(name / GRAPH_NAMES)]!.tasks[name % GRAPH_NAMES]!;
}

/** Dependencies by their names in the task's own graph. */
export function dependenciesOf(world: FakeWorld, name: Name): Name[] {
  const base = name - (name % GRAPH_NAMES);
  return taskOf(world, name).dependencies.map((local) => base + local);
}

export class FakeWorker {
  readonly index: number;
  readonly name: string;
  readonly resources: ReadonlyMap<string, number>;
  readonly results = new Map<Name, number>();
  readonly uses = new Map<Name, number>();
  /** Tasks that failed or were skipped here, or whose result could not be gathered. */
  readonly failed = new Set<Name>();
  readonly gathers = new Map<Name, Gather>();
  readonly queue: Entry[] = [];
  /** Seceded tasks, with their inputs. */
  readonly seceded: { readonly entry: Entry; readonly inputs: readonly number[] }[] = [];
  /** The batch in which a task was sent last; 0 if it was taken back or cancelled. */
  readonly claims = new Map<Name, number>();
  readonly store = new Map<Name, number>();
  readonly outbox: SentMessage[] = [];
  readonly fetches: Name[][] = [];
  /** A task that has begun and never ends. */
  endless: Name | undefined;
  readonly #world: FakeWorld;

  constructor(world: FakeWorld, index: number, name: string, resources: ReadonlyMap<string, number>) {
    this.#world = world;
    this.index = index;
    this.name = name;
    this.resources = resources;
  }

  /** Starts a new isolate beside the same store. Unreported completions of the old isolate are lost. */
  restart(): void {
    for (const message of this.outbox) {
      if (message.type === 'finished' && message.kind === KIND_STORED) this.store.delete(message.name);
      if (message.type === 'fetched') for (const name of message.stored) this.store.delete(name);
    }
    for (const part of [this.results, this.uses, this.failed, this.gathers]) part.clear();
    for (const list of [this.queue, this.seceded, this.outbox, this.fetches]) list.splice(0);
  }

  receive(name: Name, value: number): void {
    this.results.set(name, value);
    this.uses.set(name, NEVER_COUNTED);
    this.failed.delete(name);
  }

  /** Marks an input that is fetched when the first task needs it. */
  receiveLater(name: Name, gather: Gather): void {
    this.gathers.set(name, gather);
    this.failed.delete(name);
  }

  steal(names: ReadonlySet<Name>): Name[] {
    const stolen = this.queue.filter((entry) => names.has(entry.name)).map((entry) => entry.name);
    this.cancel(names);
    return stolen;
  }

  cancel(names: ReadonlySet<Name>): void {
    for (const name of names) this.claims.set(name, 0);
    const kept = this.queue.filter((entry) => !names.has(entry.name));
    this.queue.splice(0, this.queue.length, ...kept);
  }

  drop(name: Name): void {
    this.results.delete(name);
    this.gathers.delete(name);
    this.store.delete(name);
  }

  /** Removes all tasks of a graph from the isolate; the store keeps them. */
  forget(graph: number): void {
    for (const part of [this.results, this.uses, this.failed, this.gathers])
      for (const name of [...part.keys()]) if (Math.floor(name / GRAPH_NAMES) === graph) part.delete(name);
  }

  /** Begins the next task, which never ends. */
  hang(): void {
    this.endless = this.queue.shift()?.name;
  }

  /** Returns the inputs of queued tasks with their names in the stores. */
  get needed(): Set<Name> {
    return new Set(this.queue.flatMap(({ name }) => dependenciesOf(this.#world, name)));
  }

  /** Runs the next task. Returns its name if the task kills the worker. */
  runNext(): Name | undefined {
    const entry = this.endless === undefined ? this.queue.shift() : undefined;
    if (entry === undefined) return undefined;
    const { name, batch } = entry;
    const task = taskOf(this.#world, name);
    const dependencies = dependenciesOf(this.#world, name);
    for (const dependency of dependencies) this.gather(dependency);
    if (dependencies.some((dependency) => this.failed.has(dependency))) {
      this.failed.add(name);
      this.outbox.push({ type: 'finished', name, batch, kind: KIND_SKIPPED, value: 0 });
      return undefined;
    }
    const inputs = dependencies.map((dependency) => {
      const value = this.results.get(dependency);
      assert.notEqual(value, undefined, `task ${name} on worker ${this.index} lacks ${dependency}`);
      return value!;
    });
    if (task.kills) return name;
    if (task.secedes) {
      this.failed.add(name);
      this.seceded.push({ entry, inputs });
      this.outbox.push({ type: 'seceded', name, batch });
    } else this.#end(entry, inputs);
    return undefined;
  }

  /** Ends one of the seceded tasks. Its end is not reported if the task was sent again. */
  endSeceded(choice: number): void {
    const [ending] = this.seceded.splice(choice % Math.max(1, this.seceded.length), 1);
    if (ending === undefined) return;
    const { entry, inputs } = ending;
    const claim = this.claims.get(entry.name);
    if (claim === 0 || claim === entry.batch) this.#end(entry, inputs);
  }

  #end(entry: Entry, inputs: readonly number[]): void {
    const { name, batch, publish } = entry;
    const task = taskOf(this.#world, name);
    const runs = (this.#world.runs.get(name) ?? 0) + 1;
    this.#world.runs.set(name, runs);
    if (runs <= task.throws || (task.size === 'bound' && publish)) {
      this.failed.add(name);
      this.outbox.push({ type: 'threw', name, batch });
    } else {
      this.#complete(entry, task, resultOf(name, inputs));
      for (const dependency of dependenciesOf(this.#world, name)) this.#countUse(dependency);
    }
  }

  answerFetch(): void {
    const names = this.fetches.shift();
    if (names === undefined) return;
    const inline = new Map<Name, number>();
    const stored: Name[] = [];
    const missing: Name[] = [];
    for (const name of names) {
      const value = this.results.get(name);
      if (value === undefined) missing.push(name);
      else if (taskOf(this.#world, name).size === 'bound')
        this.outbox.push({ type: 'threw', name, batch: undefined });
      else if (taskOf(this.#world, name).size === 'large') {
        this.store.set(name, value);
        stored.push(name);
      } else inline.set(name, value);
    }
    this.outbox.push({ type: 'fetched', inline, stored, missing });
  }

  #complete({ name, batch, publish }: Entry, task: FakeTask, value: number): void {
    const graph = this.#world.graphs[Math.floor(name / GRAPH_NAMES)]!;
    const uses = graph.dependentCounts[name % GRAPH_NAMES]!;
    this.failed.delete(name);
    if (uses > 0) {
      this.results.set(name, value);
      this.uses.set(name, uses);
    }
    let kind = KIND_NUMBER;
    if (task.size !== 'scalar')
      kind = publish ? (task.size === 'large' ? KIND_STORED : KIND_VALUE) : KIND_PRIVATE;
    if (kind === KIND_STORED) this.store.set(name, value);
    this.outbox.push({ type: 'finished', name, batch, kind, value });
  }

  #countUse(name: Name): void {
    const left = this.uses.get(name)! - 1;
    this.uses.set(name, left);
    if (left === 0) this.results.delete(name);
  }

  /** Fetches an input from its store. */
  gather(name: Name): void {
    const gather = this.gathers.get(name);
    if (gather === undefined) return;
    this.gathers.delete(name);
    const { holder, origin } = gather;
    const value = this.#world.workers.get(holder)?.store.get(origin);
    if (value !== undefined) {
      this.receive(name, value);
      if (this.#world.keepsStoreCopies) this.store.set(origin, value);
      return;
    }
    if (this.results.has(name)) this.uses.set(name, NEVER_COUNTED);
    else this.failed.add(name);
    this.outbox.push(
      { type: 'missing', holder, name: origin },
      { type: 'missing', holder: this.index, name },
    );
  }
}

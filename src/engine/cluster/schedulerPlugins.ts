// Plugins of the scheduler. Their hooks are Dask's and receive keys and names instead of ids and indices. Transitions
// are collected only while a plugin has the hook `transition`.

import { isError } from '../../base/errors.js';
import { pushTo } from '../../base/lookUps.js';
import {
  type ClusterObserver,
  prefixOf,
  type StartStop,
  type TaskRuns,
  type WorkInterval,
} from '../../protocol/clusterObserver.js';
import type { Segment } from '../scheduler/taskGraph.js';
import { MEMORY, PROCESSING, STATE_NAMES, type StateName } from '../scheduler/taskStates.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';

/** Details of a transition. */
export interface TransitionInfo {
  /** Name of the worker that has or had the task; undefined: none. */
  readonly worker: string | undefined;
  /** Prefix of the key. */
  readonly prefix: string;
  /** Seconds since the epoch. */
  readonly time: number;
  /**
   * The transfers of inputs that were made for the task, then its computing. Present, like the next three fields, when a
   * run of the task ends: from `processing` to `memory` or `erred`, or to `released` before a retry.
   */
  readonly startstops?: readonly StartStop[];
  /** Bytes of the result; 0 for a failed run. */
  readonly nbytes?: number;
  /** Type of the result, e.g. `Float64Array`. */
  readonly type?: string;
  /** Thread of the worker: 0, 1, 2, … */
  readonly thread?: number;
}

type RunDetails = Required<Pick<TransitionInfo, 'startstops' | 'nbytes' | 'type' | 'thread'>>;

/** @source Dask, `distributed.SchedulerPlugin` */
export interface SchedulerPlugin {
  readonly name?: string;
  /** Called when the plugin is registered. */
  start?(): void;
  addWorker?(worker: string): void;
  removeWorker?(worker: string): void;
  /**
   * Called when a task changes its state: `released`, `waiting`, `queued`, `processing`, `memory`, `erred`,
   * `forgotten`.
   */
  transition?(key: string, start: StateName, finish: StateName, info: TransitionInfo): void;
  /** Called when the plugin is removed or the cluster closes. */
  close?(): void;
}

interface Collected {
  readonly segment: Segment;
  readonly local: number;
  /** Undefined while the computation is being added. */
  readonly computation: ComputationState | undefined;
  readonly from: StateName;
  readonly to: StateName;
  readonly worker: string | undefined;
  readonly time: number;
  readonly details: RunDetails | undefined;
}

export class SchedulerPlugins {
  readonly #engine: ClusterEngine;
  /** Plugin → the function that removes it. */
  readonly #plugins = new Map<SchedulerPlugin, () => void>();
  #collected: Collected[] = [];
  #delivering = false;
  readonly #runs = new EndedRuns();
  /** Removes the observer of ended runs; undefined while no plugin has the hook `transition`. */
  #stopRecording: (() => void) | undefined;

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
  }

  /** Registers a plugin, unless it is registered. Returns a function that removes it. */
  add(plugin: SchedulerPlugin): () => void {
    const known = this.#plugins.get(plugin);
    if (known !== undefined) return known;
    this.#call(plugin, () => plugin.start?.());
    const stopObserving = this.#engine.observe({
      workerAdded: ({ name }) => this.#call(plugin, () => plugin.addWorker?.(name)),
      workerRemoved: ({ name }) => this.#call(plugin, () => plugin.removeWorker?.(name)),
    });
    const remove = (): void => {
      if (!this.#plugins.delete(plugin)) return;
      stopObserving();
      this.#listen();
      this.#call(plugin, () => plugin.close?.());
    };
    this.#plugins.set(plugin, remove);
    this.#listen();
    return remove;
  }

  close(): void {
    for (const remove of [...this.#plugins.values()]) remove();
  }

  #listen(): void {
    const wanted = [...this.#plugins.keys()].some(({ transition }) => transition !== undefined);
    const { state } = this.#engine.scheduler;
    if (wanted) this.#stopRecording ??= this.#engine.observe(this.#runs);
    else {
      this.#stopRecording?.();
      this.#stopRecording = undefined;
      this.#runs.clear();
    }
    this.#engine.afterEvent = wanted ? () => this.#deliver() : undefined;
    state.onTransition = wanted ? (id, from, to, worker) => this.#collect(id, from, to, worker) : undefined;
  }

  /** Records a transition. Ids are valid only during the event, so the record names the segment. */
  #collect(id: number, from: number, to: number, worker: number): void {
    const { state } = this.#engine.scheduler;
    const segment = state.graph.segmentOf(id);
    const local = id - segment.base;
    const computation = this.#engine.computationOf(segment);
    this.#collected.push({
      segment,
      local,
      computation,
      details: from === PROCESSING ? this.#runs.take(computation?.resultId(local)) : undefined,
      from: STATE_NAMES[from]!,
      to: STATE_NAMES[to]!,
      // The scheduler holds inline results, so the worker is the one that ran the task.
      worker: this.#engine.workers.get(worker < 0 && to === MEMORY ? state.producer[id]! : worker)?.info.name,
      time: state.now,
    });
  }

  /** Delivers transitions after the event, because a plugin may call the client, which would re-enter the scheduler. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let collected = this.#take(); collected.length > 0; collected = this.#take())
        for (const one of collected) this.#deliverOne(one);
    } finally {
      this.#delivering = false;
    }
  }

  #deliverOne({ segment, local, computation, from, to, worker, time, details }: Collected): void {
    const found = computation ?? this.#engine.computationOf(segment);
    if (found === undefined) return;
    const { info } = found;
    const key = info.keys[local]!;
    const prefix = prefixOf(info, local);
    // In Dask a task passes from released to queued through waiting. Here a task without dependencies skips waiting.
    const path: StateName[] = from === 'released' && to === 'queued' ? [from, 'waiting', to] : [from, to];
    for (const plugin of this.#plugins.keys())
      for (let step = 1; step < path.length; step++)
        this.#call(plugin, () =>
          plugin.transition?.(key, path[step - 1]!, path[step]!, { worker, prefix, time, ...details }),
        );
  }

  #take(): Collected[] {
    const collected = this.#collected;
    if (collected.length > 0) this.#collected = [];
    return collected;
  }

  /** Calls a hook. If the hook throws, the error is recorded as an event and other plugins are not affected. */
  #call(plugin: SchedulerPlugin, body: () => void): void {
    try {
      body();
    } catch (error) {
      const text = isError(error) ? (error.stack ?? error.message) : String(error);
      this.#engine.event('plugin-error', `${plugin.name ?? 'A plugin'}: ${text}`);
    }
  }
}

/** Details of runs, between their end and the transition that it causes. Tasks are `firstId + id`. */
class EndedRuns implements ClusterObserver {
  readonly #transfers = new Map<number, StartStop[]>();
  readonly #details = new Map<number, RunDetails>();

  interval({ action, start, stop, task }: WorkInterval): void {
    if (action !== 'transfer' || task < 0) return;
    pushTo(this.#transfers, task, { action, start, stop });
  }

  tasksEnded(runs: TaskRuns): void {
    const { computation, ids, types, typeNames, nbytes, threads } = runs;
    for (let row = 0; row < runs.count; row++) {
      const [start, stop] = [runs.started[row]!, runs.stopped[row]!];
      const task = computation.firstId + ids[row]!;
      if (Number.isNaN(stop)) continue;
      this.#details.set(task, {
        startstops: [...(this.#transfers.get(task) ?? []), { action: 'compute', start, stop }],
        nbytes: nbytes[row]!,
        type: typeNames[types[row]!] ?? '',
        thread: threads?.[row] ?? 0,
      });
    }
  }

  /** Returns and forgets the details of the run that a task has just ended; undefined for a run without an end. */
  take(task = -1): RunDetails | undefined {
    const details = this.#details.get(task);
    this.#details.delete(task);
    this.#transfers.delete(task);
    return details;
  }

  clear(): void {
    this.#details.clear();
    this.#transfers.clear();
  }
}

// Plugins of the scheduler. Their hooks are Dask's and receive keys and names instead of ids and indices. Transitions
// are collected only while a plugin has the hook `transition`.

import { isError } from '../../base/isError.js';
import type { Segment } from '../scheduler/taskGraph.js';
import { MEMORY, STATE_NAMES, type StateName } from '../scheduler/taskStates.js';
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
}

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
}

export class SchedulerPlugins {
  readonly #engine: ClusterEngine;
  readonly #plugins = new Set<SchedulerPlugin>();
  #collected: Collected[] = [];
  #delivering = false;

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
  }

  /** Registers a plugin. Returns a function that removes it. */
  add(plugin: SchedulerPlugin): () => void {
    this.#plugins.add(plugin);
    const stopObserving = this.#engine.observe({
      workerAdded: ({ name }) => plugin.addWorker?.(name),
      workerRemoved: ({ name }) => plugin.removeWorker?.(name),
    });
    this.#listen();
    this.#call(plugin, () => plugin.start?.());
    return () => {
      if (!this.#plugins.delete(plugin)) return;
      stopObserving();
      this.#listen();
      this.#call(plugin, () => plugin.close?.());
    };
  }

  close(): void {
    for (const plugin of [...this.#plugins]) this.#call(plugin, () => plugin.close?.());
    this.#plugins.clear();
    this.#listen();
  }

  #listen(): void {
    const wanted = [...this.#plugins].some(({ transition }) => transition !== undefined);
    const { state } = this.#engine.scheduler;
    this.#engine.afterEvent = wanted ? () => this.#deliver() : undefined;
    state.onTransition = wanted ? (id, from, to, worker) => this.#collect(id, from, to, worker) : undefined;
  }

  /** Records a transition. Ids are valid only during the event, so the record names the segment. */
  #collect(id: number, from: number, to: number, worker: number): void {
    const { state } = this.#engine.scheduler;
    const segment = state.graph.segmentOf(id);
    this.#collected.push({
      segment,
      local: id - segment.base,
      computation: this.#engine.computationOf(segment),
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

  #deliverOne({ segment, local, computation, from, to, worker, time }: Collected): void {
    const found = computation ?? this.#engine.computationOf(segment);
    if (found === undefined) return;
    const { info } = found;
    const key = info.keys[local]!;
    const prefix = info.prefixes[info.prefixOf[local]!]!;
    // In Dask a task passes from released to queued through waiting. Here a task without dependencies skips waiting.
    const path: StateName[] = from === 'released' && to === 'queued' ? [from, 'waiting', to] : [from, to];
    for (const plugin of this.#plugins)
      for (let step = 1; step < path.length; step++)
        this.#call(plugin, () =>
          plugin.transition?.(key, path[step - 1]!, path[step]!, { worker, prefix, time }),
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

// A dump of a cluster's state, for programs that seem to hang. It has the dependencies for which tasks wait, and the
// messages, calls and stack of each worker. Costs nothing until it is requested.
import { inspect } from 'node:util';
import { INSPECT } from '../../base/printed.js';
import type { WaitDump } from '../openWaits.js';
import { FORGOTTEN, MEMORY, STATE_NAMES, type StateName } from '../scheduler/taskStates.js';
import { briefDump } from './briefDump.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import type { SharedDump } from './coordination/sharedDump.js';
import { unfinishedTasks } from './cutOffTasks.js';
import type { DumpFields, TaskDump, WorkerDump } from './dumpTypes.js';
import type { EngineWorker } from './engineWorker.js';

/** Unfinished tasks in a dump. Further ones are only counted. */
const MAX_TASKS = 20;
/** Dependencies that are shown for a task. */
const MAX_KEYS = 5;

export class ClusterDump implements DumpFields {
  /** Seconds since the epoch. */
  readonly time: number;
  /** State → count of tasks. */
  readonly counts: Readonly<Record<string, number>>;
  /** Unfinished tasks, those with a worker first. At most 20. */
  readonly tasks: readonly TaskDump[];
  /** Unfinished tasks that are not among `tasks`. */
  readonly more: number;
  readonly workers: readonly WorkerDump[];
  /** Calls of clients that wait, the oldest first. */
  readonly waits: readonly WaitDump[];
  /** Shared objects with holders, items or waiting calls; first those with calls, by the oldest one. */
  readonly shared: readonly SharedDump[];

  constructor(fields: DumpFields) {
    this.time = fields.time;
    this.counts = fields.counts;
    this.tasks = fields.tasks;
    this.more = fields.more;
    this.workers = fields.workers;
    this.waits = fields.waits;
    this.shared = fields.shared;
  }

  /** The dump in at most 40 lines: a line per worker, five tasks, the calls that wait, and four shared objects. */
  brief(): string {
    return briefDump(this);
  }

  /** The dump as text for people. */
  toString(): string {
    return inspect({ ...this }, { depth: 12, breakLength: 130, maxArrayLength: 100 });
  }

  /** Prints the whole dump with `console.log`, also holders and stacks, which are deeper than Node's limit. */
  [INSPECT](): string {
    return this.toString();
  }
}

/** Requests the state of every worker. Takes some milliseconds, and 3 s if a worker does not answer. Never rejects. */
export async function dumpCluster(engine: ClusterEngine): Promise<ClusterDump> {
  const { state } = engine.scheduler;
  const all = [...engine.computations].flatMap((computation) => unfinishedOf(engine, computation));
  const shown = all.sort((a, b) => Number(b.worker !== undefined) - Number(a.worker !== undefined));
  const counts = STATE_NAMES.map((name, index): [StateName, number] => [name, state.counts[index]!]);
  const fields = {
    time: engine.clock(),
    counts: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    tasks: shown.slice(0, MAX_TASKS).map((task) => taskDump(engine, task)),
    more: Math.max(0, all.length - MAX_TASKS),
    waits: engine.waits.dump(),
    shared: engine.coordination.dump(),
  };
  const workers = await Promise.all(Array.from(engine.workers.values(), (one) => workerDump(engine, one)));
  return new ClusterDump({ ...fields, workers });
}

interface UnfinishedTask {
  readonly computation: ComputationState;
  readonly local: number;
  readonly worker: string | undefined;
}

function unfinishedOf(engine: ClusterEngine, computation: ComputationState): UnfinishedTask[] {
  const { location } = engine.scheduler.state;
  const { base } = computation.segment;
  return Array.from(unfinishedTasks(engine, computation), (local) => {
    const worker = engine.workers.get(location[base + local]!)?.info.name;
    return { computation, local, worker };
  });
}

function taskDump({ scheduler }: ClusterEngine, { computation, local, worker }: UnfinishedTask): TaskDump {
  const { segment, info } = computation;
  const { graph, state } = scheduler.state;
  const id = segment.base + local;
  const dependencies = graph.dependencies.subarray(
    graph.dependencyOffsets[id],
    graph.dependencyOffsets[id + 1],
  );
  return {
    key: info.keys[local]!,
    computation: info.number,
    state: scheduler.stateName(id),
    worker,
    waitsFor: Array.from(dependencies)
      .filter((dependency) => state[dependency] !== MEMORY && state[dependency] !== FORGOTTEN)
      .slice(0, MAX_KEYS)
      .map((dependency) => info.keys[dependency - segment.base] ?? String(dependency)),
    story: scheduler.story(id).map(({ from, to, worker: at }) => `${from} → ${to} at ${at}`),
  };
}

async function workerDump(engine: ClusterEngine, worker: EngineWorker): Promise<WorkerDump> {
  const { info, current, currentSince, facts, isLeaving, isPaused } = worker;
  const known = engine.scheduler.state.workers.get(info.index);
  const computation = current && engine.computation(current.run);
  const key = computation?.info.keys[current?.id ?? -1];
  return {
    name: info.name,
    pid: info.pid,
    state: facts === undefined ? 'starting' : isLeaving ? 'leaving' : isPaused ? 'paused' : 'running',
    runs: key === undefined ? undefined : { key, seconds: engine.clock() - currentSince },
    scheduler: known && {
      batches: known.batches.map(({ number, left }) => ({ batch: number, left })),
      placed: known.placed.size,
      steal: known.stealState,
      quarantined: known.quarantined,
    },
    host: await worker.host.dump(),
  };
}

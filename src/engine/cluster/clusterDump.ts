// A dump of a cluster's state, for programs that seem to hang. It has the dependencies for which tasks wait, and the
// messages, calls and stack of each worker. Costs nothing until it is requested.
import { inspect } from 'node:util';
import { type INSPECT, Printed } from '../../base/printed.js';
import { visibleName } from '../../base/visibleText.js';
import { dependenciesOf } from '../../protocol/program.js';
import type { HostDump, ProcessDump } from '../host/hostTypes.js';
import type { WaitDump } from '../openWaits.js';
import type { IsolateDump } from '../pool/isolateDump.js';
import type { MessageCount } from '../pool/messageLog.js';
import type { CallDump } from '../pool/pendingCalls.js';
import { FORGOTTEN, MEMORY, STATE_NAMES, type StateName } from '../scheduler/taskStates.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import { type SharedDump, sharedLine } from './coordination/sharedDump.js';
import { unfinishedTasks } from './cutOffTasks.js';
import type { EngineWorker } from './engineWorker.js';
import type { TaskPlace } from './lineage.js';

/** Unfinished tasks in a dump. Further ones are only counted. */
const MAX_TASKS = 20;
/** Dependencies that are shown for a task. */
const MAX_KEYS = 5;

export interface TaskDump {
  readonly key: string;
  readonly computation: number;
  readonly state: StateName;
  /** Name of the worker to which the task was sent. */
  readonly worker: string | undefined;
  /** Keys of the first five unfinished dependencies. */
  readonly waitsFor: readonly string[];
  /** Last transitions of the task, oldest first. */
  readonly story: readonly string[];
}

export interface WorkerDump {
  readonly name: string;
  readonly pid: number;
  readonly state: 'starting' | 'running' | 'paused' | 'leaving';
  /** Task that the worker was last seen to run, and for how many seconds. */
  readonly runs: { readonly key: string; readonly seconds: number } | undefined;
  /** The scheduler's record of the worker; undefined before the worker is up. */
  readonly scheduler:
    | {
        /** Batches on the worker, with the number of their unfinished tasks. */
        readonly batches: readonly { readonly batch: number; readonly left: number }[];
        /** Number of tasks that are assigned to the worker and have not been sent. */
        readonly placed: number;
        /** State of the request to take tasks back. */
        readonly steal: string;
        readonly quarantined: boolean;
      }
    | undefined;
  readonly host: HostDump | ProcessDump;
}

type DumpFields = Omit<ClusterDump, 'brief' | 'toString' | typeof INSPECT>;

export class ClusterDump extends Printed {
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
    super();
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

  /** The dump as text for people. `console.log` prints all of it, also holders and stacks, which are deeper than Node's limit. */
  override toString(): string {
    return inspect({ ...this }, { depth: 12, breakLength: 130, maxArrayLength: 100 });
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

interface UnfinishedTask extends TaskPlace {
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
  const dependencies = dependenciesOf(graph, id);
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
  const { info, facts, isLeaving, isPaused } = worker;
  const { running } = worker.host;
  const known = engine.scheduler.state.workers.get(info.index);
  const computation = running && engine.computation(running.run);
  const key = computation?.info.keys[running?.id ?? -1];
  return {
    name: info.name,
    pid: facts?.pid ?? info.pid,
    state: facts === undefined ? 'starting' : isLeaving ? 'leaving' : isPaused ? 'paused' : 'running',
    runs: running && key !== undefined ? { key, seconds: engine.clock() - running.since } : undefined,
    scheduler: known && {
      batches: known.batches.map(({ number, left }) => ({ batch: number, left })),
      placed: known.placed.size,
      steal: known.stealState,
      quarantined: known.quarantined,
    },
    host: await worker.host.dump(),
  };
}

// The dump of a cluster in at most 40 lines for short logs: the first tasks, the first waiting calls, shared objects,
// and a line per worker.

const BRIEF_TASKS = 5;
const MAX_WAITS = 8;
const MAX_SHARED = 4;
const MAX_WORKERS = 16;
/** Types of messages that are shown for each direction, the newest first. */
const MAX_TYPES = 6;
const MAX_STACK_FRAMES = 3;
/** Most characters of a line, which may name several keys. */
const LONGEST_LINE = 2000;

function briefDump({ counts, tasks, more, workers, waits, shared }: DumpFields): string {
  const unfinished = tasks.length + more;
  const states = Object.entries(counts).map(([state, count]) => `${state} ${count}`);
  return [
    `tasks: ${states.join(', ') || 'none'}`,
    ...firstOf(tasks.map(taskLine), BRIEF_TASKS, unfinished),
    waits.length === 0 ? 'no call of a client waits' : 'calls of clients that wait:',
    ...firstOf(waits.map(waitLine), MAX_WAITS),
    ...(shared.length === 0 ? [] : ['shared objects:', ...firstOf(shared.map(sharedLine), MAX_SHARED)]),
    'workers:',
    ...firstOf(workers.map(workerLine), MAX_WORKERS),
  ].join('\n');
}

function firstOf(lines: readonly string[], max: number, all = lines.length): string[] {
  const shown = lines.slice(0, max).map((line) => `  ${visibleName(line, LONGEST_LINE)}`);
  return all > shown.length ? [...shown, `  and ${all - shown.length} more`] : shown;
}

function taskLine({ key, state, worker, waitsFor }: TaskDump): string {
  const where = worker === undefined ? '' : ` at ${worker}`;
  return `${key} is ${state}${where}${waitsFor.length === 0 ? '' : `, waits for ${waitsFor.join(', ')}`}`;
}

function waitLine({ what, subject, count, age }: WaitDump): string {
  return `${what}(${subject})${count === 1 ? '' : ` and ${count - 1} more`}, ${age} s`;
}

function workerLine({ name, pid, state, runs, scheduler, host }: WorkerDump): string {
  const left = scheduler?.batches.reduce((sum, batch) => sum + batch.left, 0) ?? 0;
  return [
    `${name} ${state} pid ${pid}`,
    runs === undefined ? 'runs nothing' : `runs ${runs.key} for ${runs.seconds.toFixed(1)} s`,
    `has ${left} tasks, ${scheduler?.placed ?? 0} placed, steal ${scheduler?.steal ?? '-'}`,
    'inside' in host ? processText(host) : isolateText(host),
  ].join('; ');
}

function processText({ state, calls, sent, received, inside }: ProcessDump): string {
  return [
    `process ${state}`,
    ...callsText(calls),
    `sent ${messagesText(sent)}`,
    `received ${messagesText(received)}`,
    typeof inside === 'string' ? inside : isolateText(inside),
  ].join('; ');
}

function isolateText({
  isolate: { state, turned, calls, sent, received, system, inside },
}: HostDump): string {
  return [
    `isolate ${[state, system].join(' ').trim()}${turned === undefined ? '' : `, turned ${turned} s ago`}`,
    ...callsText(calls),
    `sent ${messagesText(sent)}`,
    `received ${messagesText(received)}`,
    standingText(inside),
  ].join('; ');
}

function standingText(inside: IsolateDump['inside']): string {
  if (typeof inside === 'string') return inside;
  const { busy, inTask, queue, runs, stack } = inside;
  const loading = runs.filter(({ loaded }) => !loaded).length;
  const at = stack.slice(0, MAX_STACK_FRAMES).map((line) => line.replace(/\(?\S*\/([^/)]+)\)?$/, '$1'));
  return [
    inTask ? 'in a task' : busy ? 'busy' : 'idle',
    `${queue.length} batches`,
    ...(loading === 0 ? [] : [`${loading} runs load functions`]),
    ...at,
  ].join(', ');
}

function callsText(calls: readonly CallDump[]): string[] {
  const [oldest] = calls;
  return oldest === undefined ? [] : [`${calls.length} calls wait: ${oldest.what} ${oldest.age} s`];
}

function messagesText(messages: readonly MessageCount[]): string {
  const shown = messages.slice(0, MAX_TYPES).map(({ type, count, age }) => `${type}×${count} ${age}s`);
  return shown.join(' ') || 'nothing';
}

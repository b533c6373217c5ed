// DASF's task and resource plugins for a cluster of Longpole. Every task that ends becomes a Compute event, and the memory of
// workers becomes Managed Memory events, in the form that DASF's plugin writes and its analyser reads.
import { reversedEdges } from '../base/groups.js';
import {
  type ClusterObserver,
  type Computation,
  type MemorySample,
  type ResourceSample,
  TASK_MEMORY,
  type TaskRuns,
  type WorkerInfo,
} from '../protocol/clusterObserver.js';
import { MAX_DIMENSIONS } from '../protocol/completionLog.js';
import { dependenciesOf, dependentsOf } from '../protocol/program.js';
import { type EventArgs, type EventFields, RESOURCE_EVENT } from '../trace/formats/dasf/dasfEvents.js';
import type { EventProfiler } from './eventProfiler.js';

/** Results that a worker holds: those of its last memory sample, and those of the tasks that ended later. */
interface Held {
  /** Time of the sample. */
  since: number;
  size: number;
  tasks: number;
}

/** A computation with the data that its events need: keys of other computations, and reversed edges. */
interface Known {
  readonly computation: Computation;
  /** Keys by index of `computation.externals`. */
  readonly externalKeys: readonly string[];
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
}

/** DASF's name of a worker: `worker-HOST-NAME`, where names are `0`, `1`, … */
function dasfWorkerName(worker: WorkerInfo): string {
  return `worker-${worker.host}-${worker.name.replace(/^worker-/, '')}`;
}

/**
 * Records tasks like DASF's `WorkerTaskPlugin`: a Compute and a Managed Memory event per task. Differences: the time of
 * a Compute event is the exact end of the task, and `name` is the whole prefix of its key. Between two samples of a
 * worker's memory, released results still count. Each sample is a further Managed Memory event.
 */
export class WorkerTaskPlugin implements ClusterObserver {
  readonly #profiler: EventProfiler;
  readonly #known = new Map<number, Known>();
  /** Values by index of the worker. */
  readonly #workers = new Map<number, EventFields>();
  /** The key that a worker finished last. */
  readonly #lastKey = new Map<number, string>();
  readonly #held = new Map<number, Held>();

  constructor(profiler: EventProfiler) {
    this.#profiler = profiler;
  }

  workerAdded(worker: WorkerInfo): void {
    this.#workers.set(worker.index, { processId: worker.host, threadId: dasfWorkerName(worker) });
  }

  workerRemoved(worker: WorkerInfo): void {
    this.#workers.delete(worker.index);
    this.#lastKey.delete(worker.index);
    this.#held.delete(worker.index);
  }

  computationAdded(computation: Computation): void {
    const { externals } = computation;
    const externalKeys = Array.from(externals, (id) => this.#keyOf(id));
    this.#known.set(computation.firstId, { computation, externalKeys, ...reversed(computation) });
  }

  computationForgotten(computation: Computation): void {
    this.#known.delete(computation.firstId);
  }

  tasksEnded(runs: TaskRuns): void {
    const { computation } = runs;
    const origin = this.#workers.get(runs.worker);
    if (!this.#known.has(computation.firstId)) this.computationAdded(computation);
    const known = this.#known.get(computation.firstId);
    if (origin === undefined || known === undefined) return;
    for (let row = 0; row < runs.count; row++) {
      if (runs.states[row] !== TASK_MEMORY) continue;
      this.#record(runs, row, known, origin);
    }
  }

  memory(sample: MemorySample): void {
    const { time, worker, managed, tasks } = sample;
    const origin = this.#workers.get(worker);
    if (origin === undefined) return;
    this.#held.set(worker, { since: time, size: managed, tasks });
    this.#recordHeld(time, worker, this.#lastKey.get(worker) ?? null, origin);
  }

  /**
   * Records the bytes and the number of results that a worker holds, as far as they are known. The recorded values are
   * never less than `nbytes` and `results`, which describe a result that the known values may lack.
   */
  #recordHeld(
    time: number,
    worker: number,
    key: string | null,
    origin: EventFields,
    nbytes = 0,
    results = 0,
  ): void {
    const held = this.#held.get(worker) ?? { size: 0, tasks: 0 };
    const size = Math.max(held.size, nbytes);
    const tasks = Math.max(held.tasks, results);
    this.#profiler.recordInstantEvent('Managed Memory', time, {
      ...origin,
      args: { key, state: 'memory', size, tasks },
    });
  }

  /** Adds a result, unless the worker's last sample was taken after its task and contains it. */
  #hold(worker: number, nbytes: number, stopped: number): void {
    const held = this.#held.get(worker) ?? { since: Number.NEGATIVE_INFINITY, size: 0, tasks: 0 };
    this.#held.set(worker, held);
    if (stopped <= held.since) return;
    held.size += nbytes;
    held.tasks++;
  }

  #record(runs: TaskRuns, row: number, known: Known, origin: EventFields): void {
    const { computation } = known;
    const id = runs.ids[row]!;
    const key = computation.keys[id]!;
    const type = runs.typeNames[runs.types[row]!] ?? 'unknown';
    const stopped = runs.stopped[row]!;
    this.#lastKey.set(runs.worker, key);
    this.#profiler.recordCompleteEvent('Compute', stopped, Math.max(0, stopped - runs.started[row]!), {
      ...origin,
      args: {
        key,
        name: computation.prefixes[computation.prefixOf[id]!] ?? key,
        state: 'memory',
        size: runs.nbytes[row]!,
        shape: shapeAt(runs, row),
        dtype: DTYPES.get(type) ?? 'unknown',
        type,
        dependencies: dependencyKeys(known, id),
        dependents: Array.from(dependentsOf(known, id), (other) => computation.keys[other]!),
      },
    });
    const nbytes = runs.nbytes[row]! || 0;
    this.#hold(runs.worker, nbytes, stopped);
    // The result was there when the task ended, even if it had left the worker before a sample that is known already.
    this.#recordHeld(stopped, runs.worker, key, origin, nbytes, 1);
  }

  /** Returns the key of a task in an earlier computation, which is kept while other tasks need its results. */
  #keyOf(id: number): string {
    for (const { computation } of this.#known.values()) {
      const local = id - computation.firstId;
      if (local >= 0 && local < computation.size) return computation.keys[local]!;
    }
    return `#${id}`;
  }
}

/** Element types of typed arrays, by NumPy's names. */
const DTYPES: ReadonlyMap<string, string> = new Map([
  ['Float64Array', 'float64'],
  ['Float32Array', 'float32'],
  ['BigInt64Array', 'int64'],
  ['BigUint64Array', 'uint64'],
  ['Int32Array', 'int32'],
  ['Uint32Array', 'uint32'],
  ['Int16Array', 'int16'],
  ['Uint16Array', 'uint16'],
  ['Int8Array', 'int8'],
  ['Uint8Array', 'uint8'],
  ['Uint8ClampedArray', 'uint8'],
]);

/** Returns the shape of a result; empty if it has none, as in DASF. */
function shapeAt({ dimensions, shapes }: TaskRuns, row: number): number[] {
  const from = MAX_DIMENSIONS * row;
  return Array.from(shapes?.subarray(from, from + (dimensions?.[row] ?? 0)) ?? []);
}

function dependencyKeys({ computation, externalKeys }: Known, id: number): string[] {
  const { keys, size } = computation;
  return Array.from(dependenciesOf(computation, id), (other) =>
    other < size ? keys[other]! : externalKeys[other - size]!,
  );
}

/** Reverses the edges inside a computation. */
function reversed({ size, dependencies, dependencyOffsets }: Computation) {
  const inside = dependencies.map((id) => (id < size ? id : -1));
  const { offsets: dependentOffsets, targets: dependents } = reversedEdges(dependencyOffsets, inside);
  return { dependentOffsets, dependents };
}

/** DASF's figures other than CPU, memory and time, in the order of DASF's files. */
const FIGURES = [
  'host_net_io.read_bps',
  'host_net_io.write_bps',
  'host_disk_io.read_bps',
  'host_disk_io.write_bps',
  'num_fds',
  'gpu_utilization',
  'gpu_memory_used',
] as const;

/**
 * Records resources like DASF's `ResourceMonitor`: every sample of the host and of its workers becomes a Resource Usage
 * event, with DASF's ten figures and with further ones. Samples of a worker have its name; those of the host have none.
 * Unknown figures are NaN in the file, because DASF computes with the GPU figures of every sample, and fails at any
 * other value.
 */
export class ResourcePlugin implements ClusterObserver {
  readonly #profiler: EventProfiler;
  readonly #host: string;
  readonly #workers = new Map<number, WorkerInfo>();

  constructor(profiler: EventProfiler, host: string) {
    this.#profiler = profiler;
    this.#host = host;
  }

  workerAdded(worker: WorkerInfo): void {
    this.#workers.set(worker.index, worker);
  }

  workerRemoved(worker: WorkerInfo): void {
    this.#workers.delete(worker.index);
  }

  resources(sample: ResourceSample): void {
    const worker = this.#workers.get(sample.worker);
    if (worker === undefined && sample.worker >= 0) return;
    this.#profiler.recordInstantEvent(RESOURCE_EVENT, sample.time, {
      processId: worker?.host ?? this.#host,
      threadId: worker === undefined ? null : dasfWorkerName(worker),
      args: argsOf(sample),
    });
  }
}

function argsOf({ cpu, rss, time, heap, external, eventLoopDelay, figures }: ResourceSample): EventArgs {
  const args: EventArgs = { cpu, memory: rss, time };
  for (const name of FIGURES) args[name] = figures?.get(name) ?? Number.NaN;
  Object.assign(args, { heap, external, event_loop_delay: eventLoopDelay });
  for (const [name, value] of figures ?? []) args[name] = value;
  return args;
}

// Sends a synthetic run of any size to an observer, as a cluster would. It has four workers with tasks that end in
// batches, dependencies on earlier tasks, and samples.
import type { ClusterObserver, Computation, TaskRuns } from '#internal/protocol/clusterObserver.js';

const WORKERS = 4;
/** Task runs in one report of a worker. */
const BATCH = 512;
/** Largest number of tasks of one computation. */
const COMPUTATION = 1_000_000;
/** Seconds of a task. */
const SECONDS = 0.002;
/** Seconds between two samples of a worker, and between two of its heartbeats. */
const SAMPLE_INTERVAL = 0.1;
const HEARTBEAT = 0.5;
const START = 1_790_000_000;
const PREFIXES = ['load', 'normalise', 'mean_chunk', 'sum', 'getitem', 'subtract', 'where', 'store'];

/** Form of the keys: `inc-123`, or a tuple with a token, as in collections. */
export type KeyStyle = 'short' | 'tuple';

/** Reports `count` tasks to `observer`. Returns the observer's seconds for edges, runs and samples. */
export function observeTasks(
  observer: Required<Pick<ClusterObserver, 'workerAdded' | 'computationAdded' | 'tasksEnded' | Sampled>>,
  count: number,
  style: KeyStyle,
): { readonly edges: number; readonly runs: number } {
  for (let index = 0; index < WORKERS; index++) observer.workerAdded(workerInfo(index));
  const story = { time: START, sampled: START, beaten: START };
  const seconds = { edges: 0, runs: 0 };
  for (let firstId = 0, number = 1; firstId < count; firstId += COMPUTATION, number++) {
    const size = Math.min(COMPUTATION, count - firstId);
    const computation = makeComputation(number, firstId, size, story.time, style);
    const runsOf = Array.from({ length: WORKERS }, (_, worker) => new Runs(worker, computation));
    let began = performance.now();
    observer.computationAdded(computation);
    seconds.edges += performance.now() - began;
    for (let from = 0; from < size; from += BATCH * WORKERS) {
      for (const own of runsOf) {
        const runs = own.fill(computation, from, story.time);
        began = performance.now();
        if (runs.count > 0) observer.tasksEnded(runs);
        seconds.runs += performance.now() - began;
      }
      story.time += BATCH * SECONDS;
      observeSamples(observer, story);
    }
  }
  return { edges: seconds.edges / 1000, runs: seconds.runs / 1000 };
}

type Sampled = 'resources' | 'memory' | 'metric' | 'transfer' | 'interval';

function workerInfo(index: number) {
  const name = `threads-${index}`;
  const address = `thread://4711/${name}`;
  return {
    index,
    name,
    address,
    host: 'c096',
    pid: 4711,
    threads: 1,
    memoryLimit: 2 ** 31,
    startTime: START,
  };
}

function makeComputation(
  number: number,
  firstId: number,
  size: number,
  submitted: number,
  style: KeyStyle,
): Computation {
  const kind = Int32Array.from({ length: size }, (_, id) => (id >>> 10) % PREFIXES.length);
  return {
    number,
    firstId,
    size,
    keys: flatKeys(size, (id) => keyOf(firstId + id, PREFIXES[kind[id]!] ?? '', style)),
    prefixOf: kind,
    prefixes: PREFIXES,
    functionOf: kind,
    functions: PREFIXES,
    spanOf: null,
    spans: [['default']],
    // Every task except the first of each thousand needs the previous one.
    dependencyOffsets: Int32Array.from({ length: size + 1 }, (_, id) => id - Math.ceil(id / 1000)),
    dependencies: Int32Array.from(
      { length: size - Math.ceil(size / 1000) },
      (_, edge) => edge + Math.floor(edge / 999),
    ),
    externals: new Float64Array(0),
    submitted,
    client: 'client',
    code: '',
  };
}

/**
 * Returns keys that V8 has flattened. Otherwise the recording would include the time for flattening concatenated
 * strings.
 */
function flatKeys(size: number, keyAt: (id: number) => string): string[] {
  const keys: string[] = [];
  for (let id = 0; id < size; id++) {
    const key = keyAt(id);
    // Reading a character flattens the string.
    if (Number.isNaN(key.charCodeAt(0))) throw new RangeError('A key is empty.');
    keys.push(key);
  }
  return keys;
}

function keyOf(id: number, prefix: string, style: KeyStyle): string {
  if (style === 'short') return `${prefix}-${id}`;
  const token = (Math.imul(id >>> 10, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0').repeat(4);
  return `('${prefix}-${token}', ${id & 1023}, 0)`;
}

/** Runs of one worker in consecutive blocks of 512, in reused arrays like those of the engine. */
class Runs {
  readonly worker: number;
  computation: Computation;
  count = 0;
  acknowledged = 0;
  readonly ids = new Int32Array(BATCH);
  readonly states = new Uint8Array(BATCH);
  readonly types = new Uint16Array(BATCH);
  readonly typeNames = ['Float64Array'];
  readonly nbytes = new Float64Array(BATCH).fill(40_000);
  readonly attempts = new Uint8Array(BATCH).fill(1);
  readonly ready = new Float64Array(BATCH);
  readonly dispatched = new Float64Array(BATCH);
  readonly received = new Float64Array(BATCH);
  readonly started = new Float64Array(BATCH);
  readonly stopped = new Float64Array(BATCH);

  constructor(worker: number, computation: Computation) {
    this.worker = worker;
    this.computation = computation;
  }

  fill(computation: Computation, from: number, time: number): TaskRuns {
    const first = from + this.worker * BATCH;
    this.computation = computation;
    this.count = Math.max(0, Math.min(BATCH, computation.size - first));
    this.acknowledged = time + BATCH * SECONDS;
    for (let i = 0; i < this.count; i++) {
      const start = time + i * SECONDS;
      this.ids[i] = first + i;
      this.ready[i] = start - 0.0003;
      this.dispatched[i] = start - 0.0002;
      this.received[i] = start - 0.0001;
      this.started[i] = start;
      // Durations vary, and one task in a thousand takes far longer.
      const used = (first + i) % 1000 === 7 ? 0.9 : 0.3 + ((first + i) % 97) / 500;
      this.stopped[i] = start + SECONDS * used;
    }
    return this;
  }
}

function observeSamples(
  observer: Required<Pick<ClusterObserver, Sampled>>,
  story: { readonly time: number; sampled: number; beaten: number },
): void {
  for (; story.sampled < story.time; story.sampled += SAMPLE_INTERVAL) {
    for (let worker = -1; worker < WORKERS; worker++) {
      const used = { cpu: 90 + worker, rss: 2.7e9, heap: 5e7, external: 1e6, eventLoopDelay: 0.001 };
      const figures = new Map([
        ['gpu_utilization', Math.floor(story.sampled) % 100],
        ['gpu_memory_used', 3158966272],
      ]);
      observer.resources({ time: story.sampled, worker, ...used, figures });
    }
  }
  for (; story.beaten < story.time; story.beaten += HEARTBEAT) {
    const time = story.beaten;
    for (let worker = 0; worker < WORKERS; worker++) {
      observer.memory({
        time,
        worker,
        process: 4e8,
        managed: 3e8,
        unmanaged: 1e8,
        spilled: 0,
        tasks: 100 + worker,
      });
      for (const prefix of PREFIXES) {
        const of = { time, worker, context: 'execute', span: 'default', prefix, unit: 'seconds' };
        observer.metric({ ...of, activity: 'thread-cpu', value: 0.05 });
      }
      const peer = (worker + 1) % WORKERS;
      const moved = {
        worker,
        peer,
        keys: [],
        nbytes: 40_000,
        compressed: 40_000,
        start: time,
        stop: time + 0.001,
      };
      observer.transfer({ ...moved, direction: 'incoming', what: 'gather-dep' });
      observer.interval({
        worker,
        thread: 0,
        action: 'gc',
        start: time,
        stop: time + 0.002,
        task: -1,
        nbytes: 0,
      });
    }
  }
}

// Runs with different bottlenecks, and a cluster's measurements of them, for the tests and the soak of measured
// seconds.
import type { Client, Future, LocalClusterOptions } from 'longpole';
import { measured } from './measuredTasks.js';

const { spin, wait, numbers, total, noise } = measured;

export interface Workload {
  readonly name: string;
  readonly options?: LocalClusterOptions;
  readonly run: (client: Client, workers: readonly string[]) => Promise<unknown>;
  /** Keys that show the expected bottleneck. */
  readonly shows: readonly string[];
}

export interface WorkloadSize {
  /** Tasks that compute or wait, and their seconds. */
  readonly tasks: number;
  readonly seconds: number;
  /** Number of transferred arrays of 8 MB. */
  readonly arrays: number;
}

const MEGA = 1_000_000;
/** Number of arrays of 8 MB that exceed the target of two workers, 40 MB of results each. */
const SPILLED = 16;

export function workloads({ tasks, seconds, arrays }: WorkloadSize) {
  return {
    computing: {
      name: 'CPU bound',
      run: (client) => client.compute(Array.from({ length: tasks }, () => spin(seconds))),
      shows: ['execute,spin,thread-cpu,seconds'],
    },
    waiting: {
      name: 'bound by asynchronous I/O',
      run: (client) => client.compute(Array.from({ length: tasks }, () => wait(seconds))),
      shows: ['execute,wait,thread-noncpu,seconds'],
    },
    transferring: {
      name: 'bound by transfers',
      run: async (client, [first = '', second = '']) => {
        const made = Array.from({ length: arrays }, () =>
          client.submit(numbers, MEGA, { workers: [first], pure: false }),
        );
        const sums = made.map((one) => client.submit(total, one, { workers: [second], pure: false }));
        await Promise.all(sums.map((one) => one.result()));
      },
      shows: ['gather-dep,network,bytes', 'execute,numbers,serialize,seconds', 'get-data,offload,seconds'],
    },
    spilling: {
      name: 'bound by spilling',
      // A process takes 140 MB without any result.
      options: { memoryLimit: '200MB', memory: { target: 0.2, terminate: false } },
      run: async (client) => {
        const made: Future<Float64Array>[] = [];
        for (let index = 0; index < SPILLED; index++) made.push(client.submit(noise, MEGA, index));
        await Promise.all(made.map((one) => one.wait()));
        // Arrays are on disk before the first is used, so that they are read back.
        while (client.memory().spilled === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        const sums = made.map((one) => client.submit(total, one, { pure: false }));
        await Promise.all(sums.map((one) => one.result()));
      },
      shows: ['memory-monitor,disk-write,seconds', 'gather-dep,disk-read,bytes'],
    },
  } satisfies Record<string, Workload>;
}

export interface Measured {
  /** Seconds by key, without spans. */
  readonly metrics: ReadonlyMap<string, number>;
  /** Seconds of the run's span, idle time included. */
  readonly seconds: number;
  readonly idle: number;
  /** Measured seconds of the span's tasks, without overhead and idle time. */
  readonly inTasks: number;
  /** Seconds of the same tasks, from their start and stop times. */
  readonly duration: number;
  /** Duration of the span multiplied by the number of threads. */
  readonly offered: number;
}

const BESIDE = ['serialize', 'deserialize', 'import', 'executor', 'idle'];

function measure(client: Client, name: string | undefined): Promise<Measured> {
  return client.runOnScheduler(({ scheduler: { spans, cumulativeWorkerMetrics } }) => {
    const found = spans.get(name === undefined ? undefined : [name]);
    const seconds = [...(found?.cumulativeWorkerMetrics ?? [])].filter(
      ([key]) => key[0] === 'execute' && key.at(-1) === 'seconds',
    );
    const sum = (isWanted: (activity: string) => boolean): number =>
      seconds.reduce((all, [key, value]) => all + (isWanted(key.at(-2) ?? '') ? value : 0), 0);
    return {
      metrics: new Map(Array.from(cumulativeWorkerMetrics, ([key, value]) => [key.join(), value])),
      seconds: sum(() => true),
      idle: sum((activity) => activity === 'idle'),
      inTasks: sum((activity) => !BESIDE.includes(activity)),
      duration: found?.duration ?? 0,
      offered: found?.activeCpuSeconds ?? 0,
    };
  });
}

/**
 * Returns the measurements of the span with this name, or of all spans, once all but `missing` seconds of its tasks
 * are measured. Workers report measurements after results.
 */
export async function measuredWith(
  client: Client,
  name: string | undefined,
  shows: readonly string[],
  missing: number,
): Promise<Measured> {
  for (;;) {
    await client.profile();
    const found = await measure(client, name);
    if (shows.every((key) => found.metrics.has(key)) && found.inTasks >= found.duration - missing)
      return found;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

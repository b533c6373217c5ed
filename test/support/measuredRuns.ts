// Runs that are bound by different things, and what a cluster measures of them, for the tests and the soak of measured seconds.
import type { Client, Future, LocalClusterOptions } from 'longpole';
import { measured } from './measuredTasks.js';

const { spin, wait, numbers, total, noise } = measured;

export interface Workload {
  readonly name: string;
  readonly options?: LocalClusterOptions;
  readonly run: (client: Client, workers: readonly string[]) => Promise<unknown>;
  /** Keys that show that it was bound by what it should be bound by. */
  readonly shows: readonly string[];
}

export interface WorkloadSize {
  /** Tasks that compute or wait, and the seconds that each takes. */
  readonly tasks: number;
  readonly seconds: number;
  /** Arrays of 8 MB that are transferred. */
  readonly arrays: number;
}

const MEGA = 1_000_000;
/** Arrays of 8 MB that two workers with 200 MB each cannot keep in memory. */
const SPILLED = 48;

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
      // A process has 140 MB without a result.
      options: { memoryLimit: '200MB', memory: { terminate: false } },
      run: async (client) => {
        const made: Future<Float64Array>[] = [];
        for (let index = 0; index < SPILLED; index++) made.push(client.submit(noise, MEGA, index));
        await Promise.all(made.map((one) => one.wait()));
        // All are made before the first is used, so that those on disk are read back.
        const sums = made.map((one) => client.submit(total, one, { pure: false }));
        await Promise.all(sums.map((one) => one.result()));
      },
      shows: ['memory-monitor,disk-write,seconds', 'gather-dep,disk-read,bytes'],
    },
  } satisfies Record<string, Workload>;
}

export interface Measured {
  /** By key, without spans. */
  readonly metrics: ReadonlyMap<string, number>;
  /** Of the run's span, idle included. */
  readonly seconds: number;
  readonly idle: number;
  /** Of its tasks alone: their time, and that of its tasks as the workers' logs have it. */
  readonly inTasks: number;
  readonly duration: number;
  /** The time of the span times the threads. */
  readonly offered: number;
}

const BESIDE = ['serialize', 'deserialize', 'executor', 'idle'];

function measure(client: Client, name: string | undefined): Promise<Measured> {
  return client.runOnScheduler(({ scheduler: { spans, cumulativeWorkerMetrics } }) => {
    const found = spans.get(name === undefined ? undefined : [name]);
    const seconds = [...(found?.cumulativeWorkerMetrics ?? [])].filter(([key]) => key.at(-1) === 'seconds');
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
 * What was measured of the span with this name, or of all spans, once all but `missing` seconds of its tasks are measured: workers
 * report after their results.
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
    await new Promise((resolve) => setImmediate(resolve));
  }
}

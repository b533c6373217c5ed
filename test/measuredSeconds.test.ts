// No second is lost and none is counted twice: what workers measure of one run, idle time included, adds up to its wall time
// times the threads, whatever the run waits for.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Client, connect, type Future, LocalCluster, type LocalClusterOptions, span } from 'longpole';
import { measured } from './support/measuredTasks.js';

const { spin, wait, numbers, total, noise } = measured;

const WORKERS = 2;
/** Share of the wall time times the threads that may be missing or too much. */
const TOLERANCE = 0.03;

interface Workload {
  readonly name: string;
  readonly options?: LocalClusterOptions;
  readonly run: (client: Client, workers: readonly string[]) => Promise<unknown>;
  /** Keys that show that it was bound by what it should be bound by. */
  readonly shows: readonly string[];
}

const MEGA = 1_000_000;

/** Each takes a second or more: what the program itself takes at both ends is much less than the tolerance. */
const WORKLOADS: readonly Workload[] = [
  {
    name: 'CPU bound',
    run: (client) => client.compute(Array.from({ length: 24 }, () => spin(0.1))),
    shows: ['execute,spin,thread-cpu,seconds'],
  },
  {
    name: 'bound by asynchronous I/O',
    run: (client) => client.compute(Array.from({ length: 24 }, () => wait(0.1))),
    shows: ['execute,wait,thread-noncpu,seconds'],
  },
  {
    name: 'bound by transfers',
    run: async (client, [first = '', second = '']) => {
      const made = Array.from({ length: 40 }, () =>
        client.submit(numbers, MEGA, { workers: [first], pure: false }),
      );
      const sums = made.map((one) => client.submit(total, one, { workers: [second], pure: false }));
      await Promise.all(sums.map((one) => one.result()));
    },
    shows: ['gather-dep,network,bytes', 'execute,numbers,serialize,seconds', 'get-data,offload,seconds'],
  },
  {
    name: 'bound by spilling',
    // A process has 140 MB without a result.
    options: { memoryLimit: '200MB', memory: { terminate: false } },
    run: async (client) => {
      const made: Future<Float64Array>[] = [];
      for (let index = 0; index < 48; index++) made.push(client.submit(noise, MEGA, index));
      await Promise.all(made.map((one) => one.wait()));
      // All are made before the first is used, so that those on disk are read back.
      const sums = made.map((one) => client.submit(total, one, { pure: false }));
      await Promise.all(sums.map((one) => one.result()));
    },
    shows: ['memory-monitor,disk-write,seconds', 'gather-dep,disk-read,bytes'],
  },
];

interface Measured {
  /** By key, without spans. */
  readonly metrics: ReadonlyMap<string, number>;
  /** Of the run's span, idle included. */
  readonly seconds: number;
  readonly idle: number;
  /** Of its tasks alone: their time, and that of its tasks as the workers' logs have it. */
  readonly inTasks: number;
  readonly duration: number;
}

const BESIDE = ['serialize', 'deserialize', 'executor', 'idle'];

async function measure(client: Client, name: string): Promise<Measured> {
  return client.runOnScheduler(({ scheduler: { spans, cumulativeWorkerMetrics } }) => {
    const found = spans.get([name]);
    const seconds = [...(found?.cumulativeWorkerMetrics ?? [])].filter(([key]) => key.at(-1) === 'seconds');
    const sum = (isWanted: (activity: string) => boolean): number =>
      seconds.reduce((all, [key, value]) => all + (isWanted(key.at(-2) ?? '') ? value : 0), 0);
    return {
      metrics: new Map(Array.from(cumulativeWorkerMetrics, ([key, value]) => [key.join(), value])),
      seconds: sum(() => true),
      idle: sum((activity) => activity === 'idle'),
      inTasks: sum((activity) => !BESIDE.includes(activity)),
      duration: found?.duration ?? 0,
    };
  });
}

/** Workers report for themselves, after their results. */
async function measuredWith(client: Client, name: string, shows: readonly string[]): Promise<Measured> {
  for (;;) {
    await client.profile();
    const found = await measure(client, name);
    if (shows.every((key) => found.metrics.has(key)) && found.inTasks >= (1 - TOLERANCE) * found.duration)
      return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What is wrong with the sums of one run, if anything, and its figures. */
async function sumsOf(
  client: Client,
  name: string,
  run: () => Promise<unknown>,
  shows: readonly string[],
): Promise<readonly [wrong: boolean, text: string]> {
  const start = performance.now();
  await span(name, run);
  const offered = ((performance.now() - start) / 1000) * WORKERS;
  const { seconds, idle, inTasks, duration } = await measuredWith(client, name, shows);
  const isRight =
    Math.abs(seconds / offered - 1) < TOLERANCE &&
    Math.abs(inTasks / duration - 1) < TOLERANCE &&
    seconds - idle <= offered * (1 + TOLERANCE);
  return [!isRight, `${seconds} of ${offered} s, ${idle} idle; tasks ${inTasks} of ${duration} s`];
}

/**
 * A program that loses its core before its first task is there, or after its last one, takes longer than the run that is
 * measured. That does not happen to so many runs in a row; what is measured wrongly is wrong in each.
 */
const ROUNDS = 5;

for (const processes of [false, true]) {
  describe(`the measured seconds of a run on ${processes ? 'processes' : 'threads'}`, () => {
    for (const { name, options, run, shows } of WORKLOADS) {
      test(`add up: ${name}`, { timeout: 120_000 }, async () => {
        await using cluster = await LocalCluster.start({ workers: WORKERS, processes, ...options });
        await using client = await connect(cluster, { setAsDefault: false });
        // What is loaded once does not belong to the run.
        await client.compute([spin(0.001), spin(0.001), total(numbers(10), noise(10, 0))]);
        await client.compute(wait(0.001));
        const texts: string[] = [];
        for (let wrong = true; wrong; ) {
          assert.ok(texts.length < ROUNDS, texts.join('\n'));
          const [isWrong, text] = await sumsOf(
            client,
            `run ${texts.length}`,
            () => run(client, cluster.workers),
            shows,
          );
          wrong = isWrong;
          texts.push(text);
          if (process.env['LONGPOLE_SHOW'] !== undefined) console.error(name, text);
        }
      });
    }
  });
}

// Checks that every second counts exactly once. The seconds that workers measure, including idle time, must be within 3
// % of the wall time of the run multiplied by the threads.
import assert from 'node:assert/strict';
import { type Client, connect, type Delayed, KilledWorkerError, LocalCluster, span } from 'longpole';
import { lost } from '../../test/support/lostTasks.js';
import { measuredWith, type Workload, workloads } from '../../test/support/measuredRuns.js';
import { measured } from '../../test/support/measuredTasks.js';
import type { Round, RoundContext } from '../round.js';

const WORKERS = 2;
/** Permitted relative deviation of the measured seconds. */
const TOLERANCE = 0.03;
/**
 * Attempts, of which one must succeed. If the program is preempted before the first or after the last task, the wall
 * time exceeds the measured run. That is unlikely in all attempts, while a wrong measurement fails each of them.
 */
const TRIES = 5;
/** Run time of a task before it ends its worker, in seconds. */
const DEADLY = 0.3;

/** Sums of a run: whether they are correct, and the figures as text. */
type Sums = readonly [isRight: boolean, text: string];

async function assertSums(what: string, once: (name: string) => Promise<Sums>): Promise<void> {
  const texts: string[] = [];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const [isRight, text] = await once(`${what} ${attempt}`);
    if (isRight) return;
    texts.push(text);
  }
  assert.fail(`${what}: ${texts.join('\n')}`);
}

/** Returns the thread-seconds of the cluster while `body` runs. */
async function offeredBy(body: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await body();
  return ((performance.now() - start) / 1000) * WORKERS;
}

async function sumsOf(
  client: Client,
  name: string,
  run: () => Promise<unknown>,
  { shows }: Workload,
): Promise<Sums> {
  const offered = await offeredBy(() => span(name, run));
  const { seconds, idle, inTasks, duration } = await measuredWith(client, name, shows, TOLERANCE * offered);
  const isRight =
    Math.abs(seconds / offered - 1) < TOLERANCE &&
    Math.abs(inTasks / duration - 1) < TOLERANCE &&
    duration <= offered * (1 + TOLERANCE) &&
    seconds - idle <= offered * (1 + TOLERANCE);
  return [isRight, `${seconds} of ${offered} s, ${idle} idle; tasks ${inTasks} of ${duration} s`];
}

/** Runs a task that ends its workers, beside other tasks. */
async function sumsOfDeaths(
  client: Client,
  name: string,
  die: (before: Delayed<number>[]) => Delayed<number>,
): Promise<Sums> {
  let attempts = 0;
  const offered = await offeredBy(() =>
    span(name, async () => {
      const before = Array.from({ length: 20 }, () => lost.work(0.01));
      const thrown: unknown = await client
        .compute([die(before), lost.total(...before)])
        .catch((error) => error);
      assert.ok(thrown instanceof KilledWorkerError, String(thrown));
      attempts = thrown.attempts;
    }),
  );
  const least = (DEADLY * attempts + 20 * 0.01) * (1 - TOLERANCE);
  const { seconds, idle } = await measuredWith(client, name, [], Number.POSITIVE_INFINITY);
  const isRight =
    Math.abs(seconds / offered - 1) < TOLERANCE && seconds - idle >= least && idle >= -TOLERANCE * offered;
  return [isRight, `${seconds} of ${offered} s, ${idle} idle, ${attempts} attempts`];
}

async function run(context: RoundContext): Promise<void> {
  for (const processes of [false, true]) {
    const kind = processes ? 'processes' : 'threads';
    const { exitAfter, killAfter } = lost;
    for (const workload of Object.values(workloads({ tasks: 24, seconds: 0.1, arrays: 40 }))) {
      context.doing(`${kind}: ${workload.name}`);
      const options = 'options' in workload ? workload.options : {};
      await using cluster = await LocalCluster.start({ workers: WORKERS, processes, ...options });
      await using client = await connect(cluster, { setAsDefault: false });
      context.count('clusters');
      // Loads the modules beforehand, because their time does not belong to the run.
      const { spin, wait, numbers, noise, total } = measured;
      await client.compute([spin(0.001), spin(0.001), total(numbers(10), noise(10, 0))]);
      await client.compute(wait(0.001));
      await assertSums(`${kind}: ${workload.name}`, (name) =>
        sumsOf(client, name, () => workload.run(client, cluster.workers), workload),
      ).catch((error: unknown) => context.fail(error));
    }
    context.doing(`${kind}: deaths`);
    await using client = await connect({ workers: WORKERS, processes });
    context.count('clusters');
    const deadly = processes ? { exitAfter, killAfter } : { exitAfter };
    for (const [name, die] of Object.entries(deadly)) {
      await client.compute([lost.work(0.001), lost.work(0.001)]);
      await assertSums(`${kind}: ${name}`, (run) =>
        sumsOfDeaths(client, run, (before) => die(DEADLY, before)),
      ).catch((error: unknown) => context.fail(error));
    }
  }
}

export const sums: Round = {
  name: 'sums',
  checks: 'The measured seconds of a run are within 3 % of the wall time multiplied by the threads.',
  limit: 600,
  run,
};

// More results than memory, on a disk without room for the large ones. Results that fit are kept, the others fail with
// one error that names the folder, no worker dies, and the cluster computes afterwards.
import assert from 'node:assert/strict';
import { type Client, connect, type Future, LocalCluster, LongpoleError } from 'longpole';
import { measured } from '../../test/support/measuredTasks.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';
import { textOf } from '../values.js';
import { v } from '../valueTasks.js';

const PASSES = 3;
const RESULTS = 120;
/** Smallest length of a large result. All results together are at least twice the memory of the workers. */
const NUMBERS = 750_000;
/** Memory limits in bytes. A worker process takes about 140 MB without results. */
const LIMITS = { processes: 262e6, threads: 150e6 };

interface Made {
  readonly future: Future<Float64Array>;
  readonly count: number;
  readonly seed: number;
}

function make(client: Client, random: Random): Made {
  // A few results fit on the disk.
  const count = random.chance(0.1) ? 1 + random.below(4000) : NUMBERS + random.below(NUMBERS / 2);
  const seed = random.below(1e6);
  return { future: client.submit(measured.noise, count, seed), count, seed };
}

async function pass(context: RoundContext, client: Client, random: Random): Promise<void> {
  const made = Array.from({ length: RESULTS }, () => make(client, random));
  context.count('inputs', RESULTS);
  const errors = await context.timed('pass', () => Promise.all(made.map(({ future }) => future.exception())));
  const failed = errors.filter((error) => error !== undefined);
  assert.ok(
    failed.length > 0 && failed.length < RESULTS,
    `${failed.length} of ${RESULTS} results have failed`,
  );
  for (const error of failed) {
    assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_DISK_FULL', String(error));
    assert.ok(error.message.includes(context.folder), error.message);
  }
  for (const [index, { future, count, seed }] of made.entries()) {
    if (errors[index] === undefined && random.chance(0.2))
      assert.equal(textOf(await future.result()), textOf(measured.noise.fn(count, seed)));
    future.release();
  }
}

async function run(context: RoundContext): Promise<void> {
  const { random, folder } = context;
  const processes = random.chance(0.5);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({
    workers: 2,
    processes,
    memoryLimit: processes ? LIMITS.processes : LIMITS.threads,
    localDirectory: folder,
  });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const deaths: string[] = [];
  const unobserve = client.observe({
    workerRemoved: ({ name }, _time, reason) => void deaths.push(`${name}: ${reason}`),
    event: ({ topic, text }) => {
      if (topic === 'worker-restarted') deaths.push(text);
    },
  });
  for (let index = 0; index < PASSES; index++) {
    context.doing(`pass ${index} on ${processes ? 'processes' : 'threads'}`);
    await pass(context, client, random.fork());
  }
  context.doing('computes afterwards');
  assert.equal(await client.submit(v.echo, 7).result(), 7);
  unobserve();
  assert.deepEqual(deaths, []);
}

export const fullDisk: Round = {
  name: 'full-disk',
  checks: 'On a full disk, results that fit are kept, the others fail with the reason, and no worker dies.',
  limit: 300,
  fileLimit: 64,
  run,
};

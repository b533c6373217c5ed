// Tasks that exceed the memory limit of a worker, beside small tasks. The large ones fail with one error that names the
// task, within the allowed number of deaths. The small ones succeed, and the cluster computes afterwards.
import assert from 'node:assert/strict';
import { type Client, connect, LocalCluster, LongpoleError } from 'longpole';
import { t } from '../../test/cluster/clusterTasks.js';
import { watchPeaks } from '../peaks.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';
import { v } from '../valueTasks.js';

const CASES = 4;
const MEGABYTE = 2 ** 20;
/** Memory limit in bytes. A worker process takes about 140 MB without results. */
const LIMIT = 250 * MEGABYTE;
const ALLOWED = 2;
/** Largest share of the limit that a worker may reach before it is ended. */
const MOST_SHARE = 1.2;

/** Computes small tasks beside the large one. They may lose their worker and are then computed again. */
async function small(client: Client, random: Random): Promise<void> {
  const values = Array.from({ length: 30 }, () => random.below(1000));
  const totals = client.map(t.total, client.map(t.zeros, Array(30).fill(1000), values));
  assert.deepEqual(
    await client.gather(totals),
    values.map((value) => 1000 * value),
  );
}

async function large(context: RoundContext, client: Client, random: Random, key: string): Promise<void> {
  const megabytes = (2 + random.below(2)) * (LIMIT / MEGABYTE);
  const kind = random.pick(['heap', 'buffers'] as const);
  let deaths = 0;
  const unobserve = client.observe({
    workerRemoved: () => void deaths++,
    event: ({ topic }) => {
      if (topic === 'worker-restarted') deaths++;
    },
  });
  context.doing(`${key} takes ${megabytes} MiB as ${kind}`);
  const future = random.chance(0.5)
    ? client.submit(v.take, kind, megabytes, { key })
    : client.submit(v.takeAtOnce, kind, megabytes, { key });
  const peaks = watchPeaks(client);
  await small(client, random);
  const error = await future.exception();
  unobserve();
  const peak = peaks.stop();
  assert.ok(peak <= MOST_SHARE * LIMIT, `A worker process took ${Math.round(peak / 1e6)} MB`);
  // Buffers of a thread belong to the whole process, so the limit may not stop a task that frees them in time.
  if (error === undefined) return;
  assert.ok(error instanceof LongpoleError, String(error));
  const isExplained = error.message.includes(key) && /memory/i.test(error.message);
  assert.ok(isExplained, `The error does not name the task and its reason: ${error.message}`);
  assert.ok(deaths <= ALLOWED, `${deaths} workers ended, ${ALLOWED} are allowed`);
}

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({
    workers: 2,
    processes,
    memoryLimit: LIMIT,
    allowedFailures: ALLOWED,
  });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  for (let index = 0; index < CASES; index++) {
    await context
      .timed('case', () => large(context, client, random.fork(), `large-${index}`))
      .catch((error: unknown) => context.fail(error));
    context.count('inputs');
  }
  context.doing('computes afterwards');
  await small(client, random);
  assert.equal(cluster.size, 2);
}

export const limits: Round = {
  name: 'limits',
  checks:
    'A task that exceeds the memory limit fails alone, with an error that names it, before its worker exceeds 1.2 times the limit.',
  run,
};

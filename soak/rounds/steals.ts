// Workers that lose queued tasks to a worker which is idle earlier. The tasks take 0 to 3 ms, so that many end or begin while
// the scheduler takes them back.
import assert from 'node:assert/strict';
import { type Client, connect, LocalCluster } from 'longpole';
import { t } from '../../test/cluster/clusterTasks.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';

const BURSTS = 300;
/** Largest number of tasks of a burst, and of milliseconds that a task takes. */
const TASKS = 60;
const MOST_MS = 3;

/** Submits independent tasks of random durations, and checks their results. */
async function burst(client: Client, random: Random): Promise<void> {
  const values = Array.from({ length: 2 + random.below(TASKS) }, () => random.below(1000));
  const times = values.map(() => (random.chance(0.3) ? 0 : (random.below(1000) / 1000) * MOST_MS));
  const futures = client.map(t.busy, times, values, { pure: false });
  assert.deepEqual(await client.gather(futures), values);
  for (const future of futures) future.release();
}

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  const workers = 2 + random.below(3);
  context.doing(`starts ${workers} ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({ workers, processes, workerTtl: false });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const ends: string[] = [];
  let steals = 0;
  client.observe({
    event: ({ topic, text }) => {
      if (topic === 'stealing') steals++;
      if (topic === 'worker-restarted' || topic === 'worker-lost') ends.push(text);
    },
  });
  for (let index = 0; index < BURSTS; index++) {
    context.doing(`burst ${index}`);
    await context.timed('burst', () => burst(client, random));
    context.count('inputs');
  }
  assert.deepEqual(ends, [], 'no worker ended');
  assert.ok(steals > 0, 'tasks were taken back');
}

export const steals: Round = {
  name: 'steals',
  checks: 'Tasks that end or begin while the scheduler takes them back run, and their worker continues.',
  stressed: true,
  run,
};

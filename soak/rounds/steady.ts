// A long-lived cluster with a memory limit that loses a worker every 20 s. Checks the results, the peak memory of the
// workers, and that no operation takes much longer than the median of its kind.
import assert from 'node:assert/strict';
import { connect, LocalCluster } from 'longpole';
import { median } from '../../bench/median.js';
import { Killer } from '../killer.js';
import { watchPeaks } from '../peaks.js';
import type { Round, RoundContext } from '../round.js';
import { SHAPES } from '../shapes.js';

const WORKERS = 3;
/** Number of operations of each kind. Each kind takes a minute or two on two busy cores. */
const OPERATIONS = 200;
const KILL_EVERY_SECONDS = 20;
/** Memory limit in bytes. A worker process takes about 140 MB without results. */
const LIMIT = 300e6;
/** Largest share of the limit that a worker may reach. */
const MOST_SHARE = 1.2;
/** Largest ratio of an operation's duration to the median of its kind. */
const MOST_MEDIANS = 20;

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  context.doing('starts');
  await using cluster = await LocalCluster.start({ workers: WORKERS, processes: true, memoryLimit: LIMIT });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const peaks = watchPeaks(client);
  const killed = (): void => context.count('kills');
  const killer = new Killer(client, true, random.fork(), killed, KILL_EVERY_SECONDS);
  try {
    for (const [name, shape] of Object.entries(SHAPES)) {
      const seconds: number[] = [];
      for (let index = 0; index < OPERATIONS; index++) {
        context.doing(`${name} ${index}`);
        const begin = performance.now();
        await context.timed(name, () => shape(client, random.fork()));
        seconds.push((performance.now() - begin) / 1000);
        context.count('inputs');
      }
      const [middle, slowest] = [median(seconds), Math.max(...seconds)];
      const isSteady = slowest <= MOST_MEDIANS * middle;
      if (!isSteady) context.fail(`${name}: the slowest took ${slowest} s, the median ${middle} s`);
    }
  } finally {
    killer.stop();
  }
  const peak = peaks.stop();
  assert.ok(peak <= MOST_SHARE * LIMIT, `A worker process took ${Math.round(peak / 1e6)} MB`);
}

export const steady: Round = {
  name: 'steady',
  checks: `A cluster that loses a worker every ${KILL_EVERY_SECONDS} s stays correct, below ${MOST_SHARE} times its memory limit and within ${MOST_MEDIANS} times its median durations.`,
  limit: 1800,
  run,
};

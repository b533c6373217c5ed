// Kills random workers every 200 ms while graphs of all shapes run, and compares every result with a plain evaluation.
import assert from 'node:assert/strict';
import { type Client, connect, LocalCluster } from 'longpole';
import { t } from '../../test/cluster/clusterTasks.js';
import { Killer } from '../killer.js';
import type { Round, RoundContext } from '../round.js';
import { SHAPES } from '../shapes.js';

const WORKERS = 3;
const PAIRS = 6;
/**
 * Time after which a pair of graphs computes without further deaths, in seconds. On a slow machine workers might
 * otherwise die before they compute.
 */
const SPARE_SECONDS = 15;

async function pair(context: RoundContext, client: Client, killer: Killer, names: string[]): Promise<void> {
  context.doing(`computes ${names.join(' and ')}`);
  const spare = setTimeout(() => {
    killer.isPaused = true;
  }, SPARE_SECONDS * 1000);
  try {
    await Promise.all(
      names.map((name) => {
        const random = context.random.fork();
        return context.timed(name, () => SHAPES[name]!(client, random));
      }),
    );
  } finally {
    clearTimeout(spare);
    killer.isPaused = false;
  }
}

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({ workers: WORKERS, processes, allowedFailures: 200 });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const killer = new Killer(client, processes, random.fork(), () => context.count('kills'));
  const names = Object.keys(SHAPES);
  try {
    for (let index = 0; index < PAIRS; index++) {
      // Two at a time, so that computations compete.
      await pair(context, client, killer, [names[index % names.length]!, random.pick(names)]);
    }
  } finally {
    killer.stop();
  }
  context.doing('computes after the last death');
  assert.equal(cluster.size, WORKERS);
  assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
  context.doing('closes');
}

export const chaos: Round = {
  name: 'chaos',
  checks: 'Every result is correct while random workers die.',
  stressed: true,
  run,
};

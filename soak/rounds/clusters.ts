// Runs short clusters, consecutively or four at once. Each starts, maps, submits tasks on the results, and closes.
import assert from 'node:assert/strict';
import { connect } from 'longpole';
import { t } from '../../test/cluster/clusterTasks.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';

const CLUSTERS = 16;
const AT_ONCE = 4;

async function shortCluster(context: RoundContext, random: Random): Promise<void> {
  const options = { workers: 1 + random.below(3), processes: random.chance(0.5) };
  const length = 1 + random.below(30);
  await context.timed(options.processes ? 'processes' : 'threads', async () => {
    await using client = await connect(options, { setAsDefault: false });
    context.count('clusters');
    const mapped = client.map(
      t.inc,
      Array.from({ length }, (_, i) => i),
    );
    const sums = mapped.map((future, i) => client.submit(t.add, future, mapped[(i * 7) % length]!));
    const total = await client.submit(t.sum, sums).result();
    const expected = mapped.reduce((sum, _, i) => sum + i + 1 + ((i * 7) % length) + 1, 0);
    assert.equal(total, expected);
  });
}

async function one(context: RoundContext): Promise<void> {
  for (let index = 0; index < CLUSTERS; index++) {
    context.doing(`cluster ${index}`);
    await shortCluster(context, context.random);
  }
}

async function four(context: RoundContext): Promise<void> {
  const lane = async (random: Random): Promise<void> => {
    for (let index = 0; index < CLUSTERS / AT_ONCE; index++) {
      context.doing(`cluster ${index} of a lane`);
      await shortCluster(context, random);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => lane(context.random.fork())));
}

export const clusters: Round = {
  name: 'clusters',
  checks: 'Consecutive short clusters start, compute and end, and leave nothing behind.',
  stressed: true,
  run: one,
};

export const fourClusters: Round = {
  name: 'four-clusters',
  checks: 'Four short clusters at a time start, compute and end, and leave nothing behind.',
  stressed: true,
  run: four,
};

// Memory over time: blocks of random work with futures that are released or forgotten. The managed memory in the end
// must equal the results of the held futures. The heap of the main program must not grow with the number of finished
// computations.
import assert from 'node:assert/strict';
import { type Client, connect, type Future, LocalCluster } from 'longpole';
import { median } from '../../bench/median.js';
import { t } from '../../test/cluster/clusterTasks.js';
import { heldBytes } from '../../test/cluster/heldBytes.js';
import { collectGarbage } from '../../test/support/garbage.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';

/**
 * Number of blocks for about 80,000 tasks of 12,000 computations. After half of them all bounded structures are full,
 * except the history of the profiler. It grows by 5 KiB a second for ten minutes: 1 % per quarter of a round of three
 * minutes.
 */
const BLOCKS = 300;
/** Number of blocks for about 800,000 computations. */
const LONG_BLOCKS = 3000;
const GROUPS = 40;
/** Share by which the heap of the last quarter may exceed that of the third quarter. */
const GROWTH = 0.05;
const MEGABYTE = 2 ** 20;
/** Garbage collections within which unheld results must be released. */
const COLLECTIONS = 50;

/** Bytes up to which a result stays with the scheduler, and is no managed memory of a worker. */
const INLINE = 1024;

/** A result that stays, and its managed bytes. */
interface Held {
  readonly future: Future<Float64Array>;
  readonly nbytes: number;
}

async function group(client: Client, random: Random, held: Held[]): Promise<void> {
  const length = 100 + random.below(20_000);
  const made = client.submit(t.zeros, length, 1);
  const shifted = client.submit(t.plus, made, 1);
  const chain = [t.total, t.total].map((task) => client.submit(task, random.pick([made, shifted])));
  const many = client.map(t.inc, [1, 2, 3]);
  const [a, b] = await Promise.all(chain.map((future) => future.result()));
  assert.ok((a === length || a === 2 * length) && (b === length || b === 2 * length));
  if (random.chance(0.05)) held.push({ future: shifted, nbytes: 8 * length > INLINE ? 8 * length : 0 });
  else if (random.chance(0.5)) shifted.release();
  // The other futures are forgotten, finished or not.
  if (random.chance(0.5)) for (const future of [made, ...chain, ...many]) future.release();
  else if (random.chance(0.3)) await client.gather(many);
}

/** Returns the bytes of the heap after garbage collection. */
async function heapAfterCollecting(): Promise<number> {
  for (let time = 0; time < 3; time++) await collectGarbage();
  return process.memoryUsage().heapUsed;
}

async function checkManaged(client: Client, held: readonly Held[]): Promise<void> {
  // The tasks of the last group may still run.
  await client.gather(held.map(({ future }) => future));
  const weight = held.reduce((sum, { nbytes }) => sum + nbytes, 0);
  // A result may have a few bytes beside its numbers.
  const most = weight * 1.01 + MEGABYTE;
  let bytes = 0;
  for (let time = 0; time < COLLECTIONS; time++) {
    await collectGarbage();
    bytes = await heldBytes(client);
    if (bytes <= most) break;
  }
  assert.ok(bytes <= most, `${bytes} bytes are managed, and the futures that are held weigh ${weight}`);
  assert.ok(bytes >= weight, `${bytes} bytes are managed, but the futures that are held weigh ${weight}`);
}

function checkHeaps(heaps: readonly number[]): void {
  const quarter = heaps.length / 4;
  const third = median(heaps.slice(2 * quarter, 3 * quarter));
  const last = median(heaps.slice(3 * quarter));
  const figures = heaps.map((heap) => (heap / MEGABYTE).toFixed(1)).join(' ');
  assert.ok(
    last <= third * (1 + GROWTH),
    `The heap grows by more than ${100 * GROWTH} %, in MiB: ${figures}`,
  );
}

async function run(context: RoundContext, blocks: number): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  // No recording, because the window of the live trace would grow until it is full.
  await using cluster = await LocalCluster.start({ workers: 2, processes, record: false });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const held: Held[] = [];
  const heaps: number[] = [];
  for (let block = 0; block < blocks; block++) {
    context.doing(`block ${block} on ${processes ? 'processes' : 'threads'}`);
    await context.timed('block', async () => {
      for (let index = 0; index < GROUPS; index++) await group(client, random, held);
    });
    context.count('inputs', GROUPS);
    while (held.length > 20) held.shift()?.future.release();
    heaps.push(await heapAfterCollecting());
  }
  context.doing('checks the managed memory');
  await checkManaged(client, held).catch((error: unknown) => context.fail(error));
  context.doing('checks the heap');
  checkHeaps(heaps);
}

export const memory: Round = {
  name: 'memory',
  checks: 'Unreachable results are released, and the heap does not grow with finished work.',
  limit: 900,
  run: (context) => run(context, BLOCKS),
};

export const longMemory: Round = {
  name: 'long-memory',
  checks: 'The same holds for 800,000 computations in half an hour.',
  onlyByName: true,
  limit: 4 * 3600,
  run: (context) => run(context, LONG_BLOCKS),
};

// More results than memory. They are spilled and read back unchanged, in any order, also while workers die.
import assert from 'node:assert/strict';
import { type Client, connect, type Future, LocalCluster } from 'longpole';
import { measured } from '../../test/support/measuredTasks.js';
import { Killer } from '../killer.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';
import { textOf } from '../values.js';
import { v } from '../valueTasks.js';

const PASSES = 3;
const RESULTS = 48;
/** Largest length of a result. A worker process takes about 140 MB without results. */
const MOST_NUMBERS = 500_000;
const LIMIT = '300MB';

interface Made {
  readonly future: Future<Float64Array>;
  readonly text: string;
}

function make(client: Client, random: Random): Made {
  const [count, seed] = [1 + random.below(MOST_NUMBERS), random.below(1e6)];
  // Half of the results compress well.
  const compresses = random.chance(0.5);
  const future = compresses
    ? client.submit(measured.numbers, count)
    : client.submit(measured.noise, count, seed);
  return { future, text: textOf(compresses ? measured.numbers.fn(count) : measured.noise.fn(count, seed)) };
}

/** Uses every result on a worker or gathers it, in random order. */
async function pass(context: RoundContext, client: Client, random: Random): Promise<void> {
  const made = Array.from({ length: RESULTS }, () => make(client, random));
  const uses = made.map((_, index) => ({ index, at: random.word() })).sort((a, b) => a.at - b.at);
  for (const { index } of uses) {
    const { future, text } = made[index]!;
    if (random.chance(0.8)) {
      const other = random.pick(made.slice(index));
      const digest = client.submit(v.digest, future, other.future);
      const should = `[2 "0":${text},"1":${other.text}]`;
      await context.timed('digest', async () => assert.equal(await digest.result(), should));
    } else {
      await context.timed('result', async () => assert.equal(textOf(await future.result()), text));
    }
    context.count('inputs');
  }
  for (const { future } of made) if (random.chance(0.9)) future.release();
}

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  const target = 0.1 + random.below(5) / 10;
  const memory = { target, spill: target + 0.1, pause: 0.9, terminate: false as const };
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({
    workers: 2,
    processes,
    memoryLimit: LIMIT,
    memory,
    allowedFailures: 200,
  });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const killer = random.chance(0.3)
    ? new Killer(client, processes, random.fork(), () => context.count('kills'))
    : undefined;
  try {
    for (let index = 0; index < PASSES; index++) {
      context.doing(`pass ${index} on ${processes ? 'processes' : 'threads'}, target ${target}`);
      await pass(context, client, random.fork());
      if (killer !== undefined) killer.isPaused = index % 2 === 0;
    }
  } finally {
    killer?.stop();
  }
  context.doing('closes');
}

export const spill: Round = {
  name: 'spill',
  checks: 'Results that do not fit into memory are spilled and read back unchanged.',
  stressed: true,
  run,
};

// Tasks that submit tasks and share locks, semaphores, variables and queues, while random workers die.
import assert from 'node:assert/strict';
import { type Client, connect, LocalCluster, Variable } from 'longpole';
import { Killer } from '../killer.js';
import { n } from '../nestedTasks.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';

const WORKERS = 3;
const STEPS = 40;
const KILL_EVERY_SECONDS = 0.3;
/** Time after which a step continues without further deaths, in seconds; see chaos. */
const SPARE_SECONDS = 15;
const FIBONACCI = [0, 1, 1, 2, 3, 5, 8, 13, 21];

type Step = (client: Client, random: Random, number: number) => Promise<void>;

/** Sums with a lock, and returns the difference to the expected sum. */
async function added(client: Client, random: Random): Promise<number> {
  const sum = new Variable('sum');
  await sum.set(0);
  const amounts = Array.from({ length: 10 + random.below(20) }, () => 1 + random.below(9));
  await client.gather(client.map(n.add, amounts));
  return Number(await sum.get()) - amounts.reduce((a, b) => a + b, 0);
}

/** Steps that are also correct while workers die. */
const STEADY: Readonly<Record<string, Step>> = {
  recursion: async (client, random) => {
    const numbers = Array.from({ length: 1 + random.below(3) }, () => 4 + random.below(FIBONACCI.length - 4));
    const results = await client.gather(client.map(n.fib, numbers));
    assert.deepEqual(
      results,
      numbers.map((number) => FIBONACCI[number]),
    );
  },
  // A task whose worker died after the addition adds again.
  lock: async (client, random) => assert.ok((await added(client, random)) >= 0, 'an addition is lost'),
  semaphore: async (client) => {
    const used = await client.gather(client.map(n.usePool, Array(20).fill(undefined)));
    assert.ok(used.every((count) => count >= 1 && count <= 2));
  },
  cancel: async (client, random) => {
    const futures = client.map(n.fib, [6, 7, 5]);
    await new Promise((resolve) => setTimeout(resolve, random.below(100)));
    await client.cancel(random.pick(futures));
  },
};

/** Steps whose tasks must not run twice. */
const ONCE: Readonly<Record<string, Step>> = {
  exact: async (client, random) => assert.equal(await added(client, random), 0),
  pipeline: async (client, random, number) => {
    const name = `queue-${number}`;
    const [producers, each] = [1 + random.below(4), 1 + random.below(20)];
    const starts = Array.from({ length: producers }, (_, index) => index * each);
    const made = client.map(
      n.produce,
      starts.map(() => name),
      starts,
      starts.map(() => each),
    );
    const taken = client.map(
      n.consume,
      starts.map(() => name),
      starts.map(() => each),
    );
    const values = (await client.gather(taken)).flat().sort((a, b) => a - b);
    await client.gather(made);
    assert.deepEqual(
      values,
      values.map((_, index) => index),
    );
    assert.equal(values.length, producers * each);
  },
};

async function step(context: RoundContext, client: Client, killer: Killer, number: number): Promise<void> {
  const { random } = context;
  const isOnce = random.chance(0.3);
  killer.isPaused = isOnce;
  const steps = isOnce ? ONCE : STEADY;
  const name = random.pick(Object.keys(steps));
  context.doing(`${name} ${number}`);
  // Workers that are already dying must not take tasks of a step that runs once.
  if (isOnce) await killer.settled();
  const spare = setTimeout(() => {
    killer.isPaused = true;
  }, SPARE_SECONDS * 1000);
  try {
    await context.timed(name, () => steps[name]!(client, random.fork(), number));
    context.count('inputs');
  } finally {
    clearTimeout(spare);
  }
}

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({ workers: WORKERS, processes, allowedFailures: 200 });
  context.count('clusters');
  await using client = await connect(cluster);
  const killed = (): void => context.count('kills');
  const killer = new Killer(client, processes, random.fork(), killed, KILL_EVERY_SECONDS);
  try {
    for (let number = 0; number < STEPS; number++) await step(context, client, killer, number);
  } finally {
    killer.stop();
  }
  context.doing('closes');
}

export const nested: Round = {
  name: 'nested',
  checks: 'Tasks that submit tasks and share objects are correct while random workers die.',
  stressed: true,
  run,
};

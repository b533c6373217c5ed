// Chaos: a random worker is killed every 200 ms while graphs of all shapes run, and every result is compared with what a
// plain evaluation gives. 5 s by default; LONGPOLE_CHAOS_SECONDS makes it longer, LONGPOLE_CHAOS_SEED repeats a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, connect, type Future, LocalCluster } from 'longpole';
import { isAlive } from '../support/programs.js';
import { t } from './clusterTasks.js';
import { KINDS } from './support.js';

const SECONDS = Number(process.env['LONGPOLE_CHAOS_SECONDS'] ?? 5);
const SEED = Number(process.env['LONGPOLE_CHAOS_SEED'] ?? Date.now() % 1e9);
const KILL_EVERY_MS = 200;
const WORKERS = 3;
/**
 * On a machine that is slow enough workers die before they have begun to compute, for as long as that goes on. A round that takes
 * longer than this goes on without deaths.
 */
const SPARE_SECONDS = 15;
/** Longer than any round then needs, however slow the machine; a round that takes longer hangs. */
const ROUND_SECONDS = 60;

/** Marsaglia's xorshift: the same choices for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Random = (below: number) => number;

/** Numbers through a random graph of small tasks, chains and sums. */
async function numbersRound(client: Client, random: Random): Promise<void> {
  const futures: Future<number>[] = [];
  const expected: number[] = [];
  for (let i = 0; i < 400; i++) {
    if (i < 20 || random(4) === 0) {
      futures.push(client.submit(t.busy, random(3), i));
      expected.push(i);
    } else {
      const [a, b] = [random(i), random(i)];
      futures.push(client.submit(t.addModulo, futures[a]!, futures[b]!));
      expected.push((expected[a]! + expected[b]!) % 1e6);
    }
  }
  assert.deepEqual(await client.gather(futures), expected);
  for (const future of futures) future.release();
}

/** Large results that travel between workers. */
async function arraysRound(client: Client, random: Random): Promise<void> {
  const length = 1000 + random(60_000);
  const made = Array.from({ length: 12 }, (_, i) => client.submit(t.zeros, length, i));
  const shifted = made.map((future, i) => client.submit(t.plus, future, i));
  const pairs = shifted.map((future, i) => client.submit(t.totals, [future, made[(i + 5) % 12]!]));
  const expected = pairs.map((_, i) => length * (2 * i + ((i + 5) % 12)));
  assert.deepEqual(await client.gather(pairs), expected);
  const index = random(12);
  const whole = await shifted[index]!.result();
  assert.equal(whole.length, length);
  assert.ok(whole.every((value) => value === 2 * index));
  for (const future of [...made, ...shifted, ...pairs]) future.release();
}

/** One graph at once, of which only the end is asked for. */
async function graphRound(client: Client, random: Random): Promise<void> {
  const width = 10 + random(100);
  const level = (n: number, from: number): ReturnType<typeof t.addModulo> =>
    n === 0 ? t.busy(random(2), from) : t.addModulo(level(n - 1, from), level(n - 1, from + 1));
  const expectedLevel = (n: number, from: number): number =>
    n === 0 ? from : (expectedLevel(n - 1, from) + expectedLevel(n - 1, from + 1)) % 1e6;
  const total = t.sum(Array.from({ length: width }, (_, i) => level(3, i)));
  let expected = 0;
  for (let i = 0; i < width; i++) expected += expectedLevel(3, i);
  assert.equal(await client.compute(total), expected);
}

/**
 * Kills a worker that is up, at random, as often as it may. The last one that is up is spared: on a slow machine workers
 * would otherwise die faster than they start, and nothing could be computed.
 */
class Killer {
  kills = 0;
  /** Nobody is killed meanwhile. */
  spares = false;
  readonly #client: Client;
  readonly #processes: boolean;
  readonly #random: Random;
  readonly #up = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #stopped = false;

  constructor(client: Client, processes: boolean, random: Random) {
    this.#client = client;
    this.#processes = processes;
    this.#random = random;
    for (const name of Object.keys(client.schedulerInfo().workers)) this.#up.add(name);
    this.#timer = setInterval(() => this.#kill(), KILL_EVERY_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  #kill(): void {
    const victim = [...this.#up][this.#random(this.#up.size)];
    if (victim === undefined || this.#up.size < 2 || this.spares) return;
    const { pid } = this.#client.schedulerInfo().workers[victim]!;
    this.#up.delete(victim);
    // One that answered a moment ago may have been on its way out.
    if (this.#processes && !isAlive(pid)) return void this.#awaitUp(victim);
    this.kills++;
    if (this.#processes) process.kill(pid, 'SIGKILL');
    const last = this.#processes ? () => undefined : () => process.exit(9);
    void this.#ask(victim, last).then(() => this.#awaitUp(victim));
  }

  async #awaitUp(name: string): Promise<void> {
    while (!this.#stopped && !(await this.#ask(name, () => true)));
    this.#up.add(name);
  }

  /** Whether the worker has answered. */
  #ask(name: string, fn: () => unknown): Promise<boolean> {
    return this.#client.run(fn, { workers: [name] }).then(
      (answers) => answers[name] === true,
      () => false,
    );
  }
}

const ROUNDS = [numbersRound, arraysRound, graphRound];

/** Fails instead of waiting for ever, and says where everything stands. */
async function bounded(client: Client, killer: Killer, round: Promise<void>): Promise<void> {
  const spare = setTimeout(() => {
    killer.spares = true;
  }, SPARE_SECONDS * 1000);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`A round hangs: ${JSON.stringify(client.schedulerInfo())}`)),
      (SPARE_SECONDS + ROUND_SECONDS) * 1000,
    );
  });
  await Promise.race([round, limit]).finally(() => {
    clearTimeout(spare);
    clearTimeout(timer);
    killer.spares = false;
  });
}

for (const kind of KINDS) {
  test(`${kind}: random workers die all the time, and every result is right (seed ${SEED})`, {
    timeout: (SECONDS + 2 * (SPARE_SECONDS + ROUND_SECONDS)) * 1000,
  }, async (context) => {
    const processes = kind === 'processes';
    const random = randomOf(SEED);
    await using cluster = await LocalCluster.start({ workers: WORKERS, processes, allowedFailures: 200 });
    await using client = await connect(cluster, { setAsDefault: false });
    const killer = new Killer(client, processes, random);
    const end = performance.now() + SECONDS * 1000;
    let rounds = 0;
    try {
      for (; performance.now() < end; rounds += 2) {
        // Two at a time, so that computations are in each other's way.
        const both = [ROUNDS[rounds % 3]!, ROUNDS[random(3)]!];
        await bounded(
          client,
          killer,
          Promise.all(both.map((round) => round(client, random))).then(() => undefined),
        );
      }
    } finally {
      killer.stop();
    }
    context.diagnostic(`${rounds} rounds, ${killer.kills} kills`);
    assert.ok(killer.kills > 0 && rounds > 0);
    assert.equal(cluster.size, WORKERS);
    assert.deepEqual(await client.gather(client.map(t.inc, [1, 2, 3])), [2, 3, 4]);
  });
}

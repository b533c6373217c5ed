// Graphs of three shapes with known results, for rounds that disturb the cluster.
import assert from 'node:assert/strict';
import type { Client, Future } from 'longpole';
import { t } from '../test/cluster/clusterTasks.js';
import type { Random } from './random.js';

/** Computes a graph. Throws if a result is wrong. */
export type Shape = (client: Client, random: Random) => Promise<void>;

/** Computes a random graph of small tasks, chains and sums. */
async function numbers(client: Client, random: Random): Promise<void> {
  const futures: Future<number>[] = [];
  const expected: number[] = [];
  for (let i = 0; i < 400; i++) {
    if (i < 20 || random.below(4) === 0) {
      futures.push(client.submit(t.busy, random.below(3), i));
      expected.push(i);
    } else {
      const [a, b] = [random.below(i), random.below(i)];
      futures.push(client.submit(t.addModulo, futures[a]!, futures[b]!));
      expected.push((expected[a]! + expected[b]!) % 1e6);
    }
  }
  assert.deepEqual(await client.gather(futures), expected);
  for (const future of futures) future.release();
}

/** Computes large results, which travel between workers. */
async function arrays(client: Client, random: Random): Promise<void> {
  const length = 1000 + random.below(60_000);
  const index = random.below(12);
  const made = Array.from({ length: 12 }, (_, i) => client.submit(t.zeros, length, i));
  const shifted = made.map((future, i) => client.submit(t.plus, future, i));
  const pairs = shifted.map((future, i) => client.submit(t.totals, [future, made[(i + 5) % 12]!]));
  const expected = pairs.map((_, i) => length * (2 * i + ((i + 5) % 12)));
  assert.deepEqual(await client.gather(pairs), expected);
  const whole = await shifted[index]!.result();
  assert.equal(whole.length, length);
  assert.ok(whole.every((value) => value === 2 * index));
  for (const future of [...made, ...shifted, ...pairs]) future.release();
}

/** Computes one graph of which only the last result is requested. */
async function graph(client: Client, random: Random): Promise<void> {
  const width = 10 + random.below(100);
  const level = (n: number, from: number): ReturnType<typeof t.addModulo> =>
    n === 0 ? t.busy(random.below(2), from) : t.addModulo(level(n - 1, from), level(n - 1, from + 1));
  const expectedLevel = (n: number, from: number): number =>
    n === 0 ? from : (expectedLevel(n - 1, from) + expectedLevel(n - 1, from + 1)) % 1e6;
  const total = t.sum(Array.from({ length: width }, (_, i) => level(3, i)));
  let expected = 0;
  for (let i = 0; i < width; i++) expected += expectedLevel(3, i);
  assert.equal(await client.compute(total), expected);
}

export const SHAPES: Readonly<Record<string, Shape>> = { numbers, arrays, graph };

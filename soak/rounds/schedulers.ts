// Compares getSync, getThreaded, getMultiprocessing and a client with a plain evaluation, on random graphs in Dask's
// form.
import assert from 'node:assert/strict';
import { type Client, connect } from 'longpole';
import { type Graph, getMultiprocessing, getSync, getThreaded, type Keys } from 'longpole/local';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';
import { textOf, valueFrom } from '../values.js';
import { v } from '../valueTasks.js';

const GRAPHS = 8;
const NODES = 80;

const FUNCTIONS = {
  digest: v.digest.fn,
  echo: v.echo.fn,
  pack: (...values: readonly unknown[]): unknown => ({ values }),
  count: (...values: readonly unknown[]): number => values.flat(3).length,
};

interface Made {
  readonly graph: Graph;
  /** Key → value of a plain evaluation. */
  readonly values: ReadonlyMap<string, unknown>;
}

/** Makes a graph with every form of value: tasks, nested tasks, aliases, data, and lists of keys. */
class Maker {
  readonly #random: Random;
  readonly #graph: Record<string, unknown> = {};
  readonly #values = new Map<string, unknown>();
  readonly #keys: string[] = [];
  /** Keys with small values, which may be part of a structure, so that structures do not grow without a limit. */
  readonly #small: string[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  make(): Made {
    for (let index = 0; index < NODES; index++) this.#add(index);
    return { graph: this.#shuffled(), values: this.#values };
  }

  #add(index: number): void {
    const random = this.#random;
    const key = random.pick([`key${index}`, `node-${index}`, `('tuple', ${index})`]);
    const forms = [
      () => this.#task(0),
      () => this.#task(0),
      () => this.#alias(),
      () => this.#list(),
      () => this.#data(),
    ];
    const [form, value, isSmall] = (index < 5 ? this.#data : random.pick(forms)).call(this);
    this.#graph[key] = form;
    this.#values.set(key, value);
    this.#keys.push(key);
    if (isSmall) this.#small.push(key);
  }

  #data(): [form: unknown, value: unknown, isSmall: boolean] {
    const value = valueFrom(this.#random.word(), 'argument');
    return [[v.echo, value], value, true];
  }

  #alias(): [form: unknown, value: unknown, isSmall: boolean] {
    const key = this.#random.pick(this.#small);
    return [key, this.#values.get(key), true];
  }

  #list(): [form: unknown, value: unknown, isSmall: boolean] {
    const keys = [0, 1, 2].map(() => this.#random.pick(this.#small));
    return [[keys[0], [keys[1], keys[2]]], this.#valuesOf(keys), false];
  }

  #valuesOf([a = '', b = '', c = '']: readonly string[]): unknown {
    return [this.#values.get(a), [this.#values.get(b), this.#values.get(c)]];
  }

  #task(depth: number): [form: unknown, value: unknown, isSmall: boolean] {
    const random = this.#random;
    const parts = Array.from({ length: 1 + random.below(4) }, (): readonly [unknown, unknown, boolean] => {
      if (depth < 2 && random.chance(0.2)) return this.#task(depth + 1);
      if (random.chance(0.2)) return [depth, depth, true];
      const key = random.pick(random.chance(0.7) ? this.#small : this.#keys);
      return [key, this.#values.get(key), this.#small.includes(key)];
    });
    const isSmall = parts.every(([, , small]) => small);
    const name = random.pick(
      isSmall ? (['digest', 'echo', 'pack', 'count'] as const) : (['digest', 'count'] as const),
    );
    const used = name === 'echo' ? parts.slice(0, 1) : parts;
    const fn: (...values: unknown[]) => unknown = FUNCTIONS[name];
    return [[fn, ...used.map(([form]) => form)], fn(...used.map(([, value]) => value)), name !== 'pack'];
  }

  #shuffled(): Graph {
    const entries = Object.entries(this.#graph).map((entry) => ({ entry, at: this.#random.word() }));
    return Object.fromEntries(entries.sort((a, b) => a.at - b.at).map(({ entry }) => entry));
  }
}

function someKeys(random: Random, keys: readonly string[]): Keys {
  const some = () => Array.from({ length: 1 + random.below(4) }, () => random.pick(keys));
  return random.pick([
    () => random.pick(keys),
    some,
    () => [some(), [random.pick(keys), some()]],
    () => [...keys],
  ])();
}

function valuesAt(keys: Keys, values: ReadonlyMap<string, unknown>): unknown {
  return typeof keys === 'string' ? values.get(keys) : keys.map((key) => valuesAt(key, values));
}

async function compare(context: RoundContext, client: Client): Promise<void> {
  const { random } = context;
  const { graph, values } = new Maker(random.fork()).make();
  const keys = someKeys(random, [...values.keys()]);
  const numWorkers = 1 + random.below(3);
  const expected = textOf(valuesAt(keys, values));
  const engines = {
    getSync: async () => getSync(graph, keys),
    getThreaded: () => getThreaded(graph, keys, { numWorkers }),
    getMultiprocessing: () => getMultiprocessing(graph, keys, { numWorkers }),
    client: () => client.get(graph, keys),
  };
  for (const [name, get] of Object.entries(engines)) {
    const value = await context.timed(name, get).catch((error: unknown) => context.fail(error));
    if (textOf(value) !== expected) context.fail(new assert.AssertionError({ message: `${name} is wrong` }));
  }
}

async function run(context: RoundContext): Promise<void> {
  const processes = context.random.chance(0.5);
  await using client = await connect({ workers: 2, processes }, { setAsDefault: false });
  context.count('clusters');
  for (let index = 0; index < GRAPHS; index++) {
    context.doing(`graph ${index}`);
    await compare(context, client);
    context.count('inputs');
  }
}

export const schedulers: Round = {
  name: 'schedulers',
  checks: 'getSync, getThreaded, getMultiprocessing and a client return the same as direct calls.',
  stressed: true,
  run,
};

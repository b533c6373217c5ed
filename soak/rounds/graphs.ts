// Random graphs with every kind of value and every option, on both kinds of workers. Each result is compared with that
// of direct calls of the same functions.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  type Client,
  connect,
  type Delayed,
  type Future,
  LocalCluster,
  LongpoleError,
  type SubmitOptions,
} from 'longpole';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';
import { type Purpose, textOf, valueFrom } from '../values.js';
import { v } from '../valueTasks.js';

const GRAPHS = 6;
const NODES = 60;
/** Nesting level from which a structure is not packed any more, so that structures stay small. */
const MAX_LEVEL = 3;
const MAX_PRIORITY = 5;

/**
 * Permitted outcomes of a node: a value, or an error with one of these codes or with one of these texts in its message.
 */
interface Expected {
  readonly value?: unknown;
  readonly messages: readonly string[];
  readonly codes: readonly string[];
}

interface Node {
  readonly source: Future<unknown> | Delayed<unknown>;
  readonly expected: Expected;
  /** Nesting level of the value. */
  readonly level: number;
}

type Arguments = readonly (Node | { readonly literal: unknown })[];

const TASK = 'ERR_LONGPOLE_TASK';

class RandomGraph {
  readonly #context: RoundContext;
  readonly #random: Random;
  readonly #client: Client;
  readonly #workers: readonly string[];
  readonly #purpose: Purpose;
  readonly #name: string;
  /** Nodes that others may use. */
  readonly #inner: Node[] = [];
  /** Nodes without dependents, which may be cancelled. */
  readonly #last: Node[] = [];
  readonly #abort = new AbortController();

  constructor(context: RoundContext, cluster: LocalCluster, client: Client, purpose: Purpose, name: string) {
    this.#context = context;
    this.#random = context.random.fork();
    this.#client = client;
    this.#workers = cluster.workers;
    this.#purpose = purpose;
    this.#name = name;
  }

  async run(): Promise<void> {
    for (let index = 0; index < NODES; index++) await this.#add(index);
    this.#context.count('inputs', NODES);
    if (this.#random.chance(0.5)) this.#abort.abort();
    const nodes = [...this.#inner, ...this.#last];
    const checked = new Set(nodes.filter(() => this.#random.chance(0.6)));
    const checks = [this.#gatherSome([...checked]), ...Array.from(checked, (node) => this.#check(node))].map(
      (check) => check.catch((error: unknown) => this.#context.fail(error)),
    );
    // Releases nodes before they are done, which must not fail their dependents. The others are forgotten or released
    // at the end.
    this.#release(nodes.filter((node) => !checked.has(node) && this.#random.chance(0.5)));
    await Promise.all(checks);
    this.#release(nodes.filter(() => this.#random.chance(0.9)));
  }

  #release(nodes: readonly Node[]): void {
    for (const { source } of nodes) if ('release' in source) source.release();
  }

  async #add(index: number): Promise<void> {
    const random = this.#random;
    const ways = [
      () => this.#make(),
      () => this.#make(),
      () => this.#digest(),
      () => this.#digest(),
      () => this.#digest(),
      () => this.#echo(),
      () => this.#pack(),
      () => this.#flaky(index),
      () => this.#fail(index),
      () => this.#map(),
      () => this.#scatter(),
      () => this.#persist(),
      () => this.#lazy(),
      () => this.#pure(),
      () => this.#mayBeCancelled(index),
    ];
    if (this.#inner.length < 5) this.#make();
    else await random.pick(ways)();
    if (random.chance(0.02)) this.#spin();
  }

  #make(): void {
    const seed = this.#random.word();
    const source = this.#client.submit(v.make, seed, this.#purpose, this.#options());
    this.#inner.push({ source, expected: valued(valueFrom(seed, this.#purpose)), level: 0 });
  }

  #digest(): void {
    const used = this.#arguments(4);
    const source = this.#client.submit(v.digest, ...used.map(argument), this.#options());
    this.#inner.push({ source, expected: applied(used, v.digest.fn), level: 0 });
  }

  #echo(): void {
    const used = this.#arguments(1);
    const echo = this.#random.pick([v.echo, v.echoLater]);
    const source = this.#client.submit(echo, argument(used[0]!), this.#options());
    this.#inner.push({ source, expected: applied(used, v.echo.fn), level: levelOf(used) });
  }

  #pack(): void {
    const used = this.#arguments(3);
    const seed = this.#random.word();
    const source = this.#client.submit(v.pack, seed, ...used.map(argument), this.#options());
    const expected = applied(used, (...values) => v.pack.fn(seed, ...values));
    this.#inner.push({ source, expected, level: levelOf(used) + 1 });
  }

  #flaky(index: number): void {
    const used = this.#arguments(1);
    const times = this.#random.below(4);
    const path = join(this.#context.folder, `${this.#name}-${index}`);
    const options = { ...this.#options(), retries: times + this.#random.below(3) };
    const source = this.#client.submit(v.flaky, path, times, argument(used[0]!), options);
    this.#inner.push({ source, expected: applied(used, v.echo.fn), level: levelOf(used) });
  }

  #fail(index: number): void {
    const used = this.#arguments(2);
    const message = `node ${index} of ${this.#name} fails`;
    const options = { ...this.#options(), retries: this.#random.below(3) };
    const source = this.#client.submit(v.fail, message, ...used.map(argument), options);
    const messages = [...used.flatMap((one) => ('source' in one ? one.expected.messages : [])), message];
    this.#inner.push({ source, expected: { messages, codes: [TASK] }, level: 0 });
  }

  #map(): void {
    const lists = [this.#arguments(4), this.#arguments(4)];
    const length = Math.min(...lists.map((list) => list.length));
    const sources = this.#client.map(v.digest, ...lists.map((list) => list.map(argument)), this.#options());
    assert.equal(sources.length, length);
    for (const [index, source] of sources.entries()) {
      const used = lists.map((list) => list[index]!);
      this.#inner.push({ source, expected: applied(used, v.digest.fn), level: 0 });
    }
  }

  async #scatter(): Promise<void> {
    const value = valueFrom(this.#random.word(), 'argument');
    const broadcast = this.#random.chance(0.3);
    const [source] = await this.#client.scatter([value], { broadcast });
    this.#inner.push({ source: source!, expected: valued(value), level: 0 });
  }

  #persist(): void {
    const used = this.#arguments(3);
    const source = this.#client.persist(v.digest(...used.map(argument)), this.#options());
    this.#inner.push({ source, expected: applied(used, v.digest.fn), level: 0 });
  }

  /** Adds a Delayed, which may be an argument of other tasks or be computed. */
  #lazy(): void {
    const used = this.#arguments(2);
    const named = Object.fromEntries(used.map((one, index) => [`n${index}`, one]));
    const inputs = Object.fromEntries(Object.entries(named).map(([name, one]) => [name, argument(one)]));
    const values = (...all: unknown[]) =>
      Object.fromEntries(Object.keys(named).map((name, i) => [name, all[i]]));
    const expected = applied(used, (...all) => v.digestOf.fn(values(...all)));
    this.#inner.push({ source: v.digestOf(inputs), expected, level: 0 });
  }

  /** Adds two equal calls of a pure function, which must be one task. */
  #pure(): void {
    const seed = this.#random.below(20);
    const [one, other] = [0, 1].map(() => this.#client.submit(v.make, seed, this.#purpose, { pure: true }));
    assert.equal(one!.key, other!.key);
    for (const source of [one!, other!])
      this.#inner.push({ source, expected: valued(valueFrom(seed, this.#purpose)), level: 0 });
  }

  /** Adds a task that is aborted by a signal or by `cancel()`, or finishes before that. */
  #mayBeCancelled(index: number): void {
    const used = this.#arguments(2);
    const { signal } = this.#abort;
    const source = this.#client.submit(v.digest, ...used.map(argument), { ...this.#options(), signal });
    const { value, messages, codes } = applied(used, v.digest.fn);
    const expected = { value, messages, codes: [...codes, 'ERR_LONGPOLE_ABORTED', 'ERR_LONGPOLE_FUTURE'] };
    this.#last.push({ source, expected, level: 0 });
    if (index % 2 === 0) source.cancel();
  }

  #spin(): void {
    const source = this.#client.submit(v.spin, { ...this.#options(), timeout: 0.05 });
    this.#last.push({ source, expected: { messages: [''], codes: ['ERR_LONGPOLE_TASK_TIMEOUT'] }, level: 0 });
  }

  /** Returns inputs for a task: other nodes, and sometimes a literal value. */
  #arguments(most: number): Arguments {
    return Array.from({ length: 1 + this.#random.below(most) }, () => {
      if (this.#random.chance(0.15)) return { literal: valueFrom(this.#random.word(), 'argument') };
      return this.#random.pick(this.#inner.filter(({ level }) => level < MAX_LEVEL));
    });
  }

  #options(): SubmitOptions {
    const random = this.#random;
    return {
      // There is always one option, so that the options are recognised as such.
      priority: random.below(2 * MAX_PRIORITY) - MAX_PRIORITY,
      ...(random.chance(0.2) && { workers: random.pick(this.#workers) }),
      ...(random.chance(0.1) && { workers: this.#workers.slice(random.below(this.#workers.length)) }),
      ...(random.chance(0.1) && { resources: { GPU: 1 + random.below(2) } }),
      ...(random.chance(0.1) && { timeout: 100 }),
      ...(random.chance(0.1) && { key: `${random.pick(['k', 'ä "', "('x', 0)"])}-${random.word()}` }),
      ...(random.chance(0.1) && { pure: false }),
    };
  }

  /** Gathers several nodes at once, in a structure. */
  async #gatherSome(from: readonly Node[]): Promise<void> {
    const nodes = from.filter((node) => 'status' in node.source && this.#inner.includes(node));
    const structure = { all: nodes.map(({ source }) => source), first: [{ one: nodes[0]?.source }] };
    const gathered = await this.#client.gather(structure, { errors: 'skip' });
    for (const [index, { expected }] of nodes.entries()) {
      const { all }: { all: readonly unknown[] } = gathered;
      const isRight = expected.codes.length > 0 ? undefined : expected.value;
      assertSame(all[index], isRight, `${nodes[index]?.source} gathered`);
    }
  }

  async #check({ source, expected }: Node): Promise<void> {
    let value: unknown;
    try {
      value = await ('result' in source ? source.result() : this.#client.compute(source, this.#options()));
    } catch (error) {
      const isExpected =
        error instanceof LongpoleError &&
        expected.codes.includes(error.code) &&
        (error.code !== TASK || expected.messages.some((message) => error.message.includes(message)));
      assert.ok(isExpected, error instanceof Error ? error : String(error));
      return;
    }
    const should = `should fail with ${expected.codes}`;
    assert.ok('value' in expected, `${source} has the value ${textOf(value)} and ${should}`);
    assertSame(value, expected.value, String(source));
  }
}

function valued(value: unknown): Expected {
  return { value, messages: [], codes: [] };
}

/** Returns the expected result of a function for these inputs, or the errors of its inputs. */
function applied(used: Arguments, fn: (...values: unknown[]) => unknown): Expected {
  const failing = used.flatMap((one) =>
    'source' in one && one.expected.codes.length > 0 ? [one.expected] : [],
  );
  if (failing.length > 0) return { messages: failing.flatMap(({ messages }) => messages), codes: [TASK] };
  return valued(fn(...used.map((one) => ('source' in one ? one.expected.value : one.literal))));
}

function argument(one: Arguments[number]): unknown {
  return 'source' in one ? one.source : one.literal;
}

function levelOf(used: Arguments): number {
  return Math.max(...used.map((one) => ('source' in one ? one.level : 0)));
}

/** Compares two values. The failure shows the part of their texts where they begin to differ. */
function assertSame(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [textOf(actual), textOf(expected)];
  if (is === should) return;
  let begin = 0;
  while (is[begin] === should[begin]) begin++;
  const part = (text: string): string => text.slice(Math.max(0, begin - 40), begin + 160);
  assert.fail(`${what} is …${part(is)}… and should be …${part(should)}…`);
}

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  const purpose = processes ? 'result of a process' : 'result of a thread';
  const workers = 1 + random.below(4);
  context.doing(`starts ${workers} ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({ workers, processes, resources: { GPU: 2 } });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  for (let index = 0; index < GRAPHS; index += 2) {
    context.doing(`graphs ${index} and ${index + 1} on ${workers} ${processes ? 'processes' : 'threads'}`);
    // Two at a time, so that computations compete.
    const both = [index, index + 1].map(
      (one) => new RandomGraph(context, cluster, client, purpose, `graph-${one}`),
    );
    await Promise.all(both.map((graph) => context.timed('graph', () => graph.run())));
  }
  context.doing('closes');
}

export const graphs: Round = {
  name: 'graphs',
  checks: 'Random graphs of every kind of value and option have the same results as direct calls.',
  stressed: true,
  run,
};

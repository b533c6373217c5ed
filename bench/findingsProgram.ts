// The program that bench/findingsTable.ts records: `node findingsProgram.js NAME` runs one workload on two workers. Its
// bottleneck is known by construction. If only the program can measure the cost, it prints the seconds as its last
// line.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect, type Future, LocalCluster, Lock, tasks } from 'longpole';

/** Blocks the thread without using a core, so that the time is the same on a busy machine. */
function hold(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Computes for about this time on an undisturbed core. */
function spin(milliseconds: number): number {
  let state = 1;
  for (let i = 0; i < milliseconds * 1_000_000; i++) state = Math.imul(state ^ i, 48271);
  return state;
}

function records(count: number): { id: number; name: string }[] {
  return Array.from({ length: count }, (_, id) => ({ id, name: `record ${id}` }));
}

const t = tasks(import.meta.url, {
  block(milliseconds: number, ..._after: unknown[]): number {
    hold(milliseconds);
    return milliseconds;
  },
  /** Blocks the thread while it holds a lock. Returns the seconds for which it holds the lock. */
  async locked(milliseconds: number): Promise<number> {
    await using _lease = await new Lock('shared').hold();
    const start = performance.now();
    hold(milliseconds);
    return (performance.now() - start) / 1000;
  },
  async wait(milliseconds: number): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return milliseconds;
  },
  /** Computes for half of the time and blocks for the other half. */
  mixed(milliseconds: number, ..._after: unknown[]): number {
    hold(milliseconds / 2);
    return spin(milliseconds / 2);
  },
  compute(milliseconds: number, _input?: unknown): number {
    return spin(milliseconds);
  },
  step(milliseconds: number, ..._after: unknown[]): number {
    hold(milliseconds);
    return milliseconds;
  },
  noop: (value: number): number => value,
  load: (count: number, _seed: number): { id: number; name: string }[] => records(count),
  count: (lists: readonly (readonly unknown[])[]): number =>
    lists.reduce((sum, list) => sum + list.length, 0),
  lengthOf: (list: ArrayLike<unknown>): number => list.length,
  array: (doubles: number, seed: number): Float64Array => new Float64Array(doubles).map((_, i) => i * seed),
  /** Computes for about this time. Its result is too large for the message of its end, so the worker holds it. */
  part(milliseconds: number, seed: number): Float64Array {
    return new Float64Array(100_000).fill(spin(milliseconds) * seed);
  },
  total: (arrays: readonly Float64Array[]): number => arrays.reduce((sum, array) => sum + array.length, 0),
  garbage(milliseconds: number, _seed: number): number {
    const kept: unknown[] = [];
    const until = performance.now() + milliseconds;
    while (performance.now() < until) {
      kept.push(records(2000));
      if (kept.length > 60) kept.shift();
    }
    return kept.length;
  },
  /** Ends the process of the worker in its first run, which creates the file. */
  end(file: string): number {
    if (existsSync(file)) return 1;
    writeFileSync(file, '');
    // The end of the thread alone would lose no result.
    process.kill(process.pid, 'SIGKILL');
    return 0;
  },
});

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Returns a chain of tasks, in which each step needs the previous one. */
function chainOf(
  client: Client,
  count: number,
  milliseconds: number,
  first: readonly unknown[] = [],
): Future<number> {
  let last: Future<number> | undefined;
  for (let i = 0; i < count; i++)
    last = client.submit(t.step, milliseconds, ...(last === undefined ? first : [last]));
  if (last === undefined) throw new RangeError('A chain has at least one step.');
  return last;
}

const workersOf = (client: Client): string[] => Object.keys(client.schedulerInfo().workers);

/** A workload. Returns the seconds that its bottleneck cost, if only the workload can measure them. */
type Body = (client: Client, cluster: LocalCluster) => Promise<unknown>;

const PROVOKED: Readonly<Record<string, Body>> = {
  'blocked tasks': async (client) =>
    client.gather(times(40, () => client.submit(t.block, 50, { pure: false }))),
  'awaiting tasks': async (client) =>
    client.gather(times(40, () => client.submit(t.wait, 50, { pure: false }))),
  // Without the lock, both workers would need half of the time.
  'contended lock': async (client) => {
    const held = await client.gather(times(40, () => client.submit(t.locked, 50, { pure: false })));
    return held.reduce((sum, seconds) => sum + seconds, 0) / 2;
  },
  'serial tail': async (client) => {
    const first = times(20, () => client.submit(t.mixed, 20, { pure: false }));
    await chainOf(client, 12, 100, first).result();
  },
  'serial stretch': async (client) => {
    const first = times(20, () => client.submit(t.mixed, 20, { pure: false }));
    const all = client.submit(t.step, 1200, ...first);
    await client.gather(times(20, (i) => client.submit(t.mixed, 20, all, i)));
  },
  'one straggler': async (client) =>
    void (await client.gather(
      times(41, (i) => client.submit(t.block, i === 40 ? 1500 : 15, { pure: false })),
    )),
  'skewed workers': async (client) => {
    const [first = '', second = ''] = workersOf(client);
    await client.gather(
      times(40, (i) => client.submit(t.mixed, 40, { pure: false, workers: [i < 32 ? first : second] })),
    );
  },
  'a chain': async (client) => void (await chainOf(client, 20, 60).result()),
  'one by one': async (client) => {
    for (let i = 0; i < 20; i++) await client.submit(t.step, 60, { pure: false }).result();
  },
  'program between results': async (client) => {
    for (let stage = 0; stage < 4; stage++) {
      await client.gather(times(10, () => client.submit(t.mixed, 20, { pure: false })));
      if (stage < 3) hold(400);
    }
  },
  'blocked event loop': async (client) => {
    const names = workersOf(client);
    let last: Future<number> | undefined;
    for (let i = 0; i < 10; i++)
      last = client.submit(t.step, 20, ...(last === undefined ? [] : [last]), {
        workers: [names[i % 2] ?? ''],
      });
    let done = false;
    const end = last?.result().then(() => (done = true));
    for (await new Promise(setImmediate); !done; await new Promise(setImmediate)) spin(120);
    await end;
  },
  'tiny tasks': async (client) =>
    void (await client.gather(
      client.map(
        t.noop,
        times(60_000, (i) => i),
      ),
    )),
  'needless gather': async (client) => {
    const parts = times(8, (i) => client.submit(t.load, 60_000, i));
    await Promise.all(parts.map((part) => part.wait()));
    const start = performance.now();
    // Packing and unpacking the parts once on the workers must cost less than fetching them.
    for (let look = 0; look < 3; look++) await client.gather(parts);
    const seconds = (performance.now() - start) / 1000;
    await client.gather(parts.map((part) => client.submit(t.lengthOf, part)));
    return seconds;
  },
  'large arguments': async (client) => {
    await client.submit(t.noop, 1).result();
    for (let i = 0; i < 6; i++) await client.submit(t.lengthOf, records(150_000), { pure: false }).result();
  },
  'much garbage': async (client) => client.gather(times(16, (i) => client.submit(t.garbage, 120, i))),
  'short memory': async (client) => {
    const arrays = times(40, (i) => client.submit(t.array, 2e6, i));
    await Promise.all(arrays.map((array) => array.wait()));
    await client.gather(
      times(20, (i) => client.submit(t.total, [...arrays.slice(i, i + 1), ...arrays.slice(39 - i, 40 - i)])),
    );
  },
  'a lost worker': async (client) => {
    const [first = ''] = workersOf(client);
    const parts = times(16, (i) => client.submit(t.part, 60, i));
    await Promise.all(parts.map((part) => part.wait()));
    const folder = mkdtempSync(join(tmpdir(), 'longpole-lost-'));
    await client.submit(t.end, join(folder, 'ended'), { workers: [first] }).result();
    rmSync(folder, { recursive: true });
    await client.submit(t.total, parts).result();
  },
  'other programs': async (client) =>
    client.gather(times(40, () => client.submit(t.compute, 30, undefined, { pure: false }))),
};

const HEALTHY: Readonly<Record<string, Body>> = {
  'blocked map': async (client) =>
    client.gather(times(24, () => client.submit(t.block, 50, { pure: false }))),
  'awaiting map': async (client) =>
    client.gather(times(24, () => client.submit(t.wait, 50, { pure: false }))),
  'mixed map': async (client) => client.gather(times(60, () => client.submit(t.mixed, 20, { pure: false }))),
  'computing map': async (client) =>
    client.gather(times(60, () => client.submit(t.compute, 20, undefined, { pure: false }))),
  'two stages': async (client) => {
    const first = times(24, () => client.submit(t.mixed, 20, { pure: false }));
    await client.gather(times(24, (i) => client.submit(t.mixed, 20, first[i], i)));
  },
  'a tree': async (client) => {
    let level = times(32, () => client.submit(t.mixed, 30, { pure: false }));
    while (level.length > 1)
      level = times(level.length / 2, (i) => client.submit(t.mixed, 30, level[2 * i], level[2 * i + 1]));
    await client.gather(level);
  },
  'two chains': async (client) => client.gather([chainOf(client, 12, 60), chainOf(client, 12, 61)]),
  'shared buffer': async (client) => {
    const shared = new Float64Array(new SharedArrayBuffer(64e6));
    await client.gather(times(40, (i) => client.submit(t.compute, 20 + i / 1000, shared)));
  },
  'small gather': async (client) => {
    const parts = times(24, (i) => client.submit(t.array, 1000, i));
    await client.gather(parts);
    await client.gather(times(40, (i) => client.submit(t.mixed, 20, parts[i % 24], i)));
  },
  'a late worker': async (client, cluster) => {
    const all = client.gather(times(60, () => client.submit(t.mixed, 20, { pure: false })));
    await cluster.scale(2);
    await all;
  },
};

async function main(name: string): Promise<void> {
  const body = PROVOKED[name] ?? HEALTHY[name];
  if (body === undefined) throw new RangeError(`There is no workload '${name}'.`);
  const processes = name === 'a lost worker';
  await using cluster = await LocalCluster.start({
    workers: name === 'a late worker' ? 1 : 2,
    processes,
    ...(name === 'short memory' ? { memoryLimit: '200MB' } : {}),
  });
  await using client = await connect(cluster);
  const seconds = await body(client, cluster);
  if (typeof seconds === 'number') console.log(seconds);
}

// The isolates import this file, too, and need only the functions.
const [, program = '', name = ''] = process.argv;
if (program.endsWith('findingsProgram.js')) await main(name);

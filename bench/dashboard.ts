// `node dist-test/bench/dashboard.js` measures the cost of open dashboard pages for the scheduler. A cluster runs
// 20,000 small tasks a second with none, one and ten pages in turns. Then it runs at full speed with none and ten. The
// figure is CPU time of the scheduler's thread, which other programs of the machine hardly change. The pages are in
// another process. On two cores they compete with the worker, which affects the wall time of the second part.
import { setTimeout } from 'node:timers/promises';
import { connect, LocalCluster } from 'longpole';
import { threadCpuClock } from '#internal/engine/worker/threadCpuClock.js';
import { median } from './median.js';
import { Pages } from './pages.js';

const RATE = 20_000;
const BURST_MS = 50;
/** Duration of a run. Runs are short and many, because the drift of the machine's speed exceeds the cost of a page. */
const SECONDS = 1;
const PACED_ROUNDS = 15;
const ROUNDS = 5;
const MANY = 200_000;
const PAGES = [0, 1, 10];

interface Run {
  readonly wall: number;
  readonly cpu: number;
}

function inc(x: number): number {
  return x + 1;
}

async function clockOfThread(): Promise<() => number> {
  const clock = await threadCpuClock();
  if (clock === undefined) throw new Error('This system does not report the CPU time of a thread.');
  return clock;
}

let bursts = 0;

function graphOf(tasks: number): { readonly graph: Map<string, unknown>; readonly keys: string[] } {
  const name = `inc-${bursts++}`;
  const graph = new Map<string, unknown>();
  const keys = Array.from({ length: tasks }, (_, i) => `('${name}', ${i})`);
  for (const [i, key] of keys.entries()) graph.set(key, [inc, i]);
  return { graph, keys };
}

const cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 }, profile: false });
const client = await connect(cluster);
const pages = new Pages(cluster.dashboardLink ?? '');
const cpu = await clockOfThread();

/** Returns the CPU seconds of this thread per second, at RATE tasks a second. */
async function paced(): Promise<number> {
  const start = performance.now();
  const before = cpu();
  const running: Promise<unknown>[] = [];
  for (let burst = 0; burst * BURST_MS < SECONDS * 1000; burst++) {
    const { graph, keys } = graphOf((RATE * BURST_MS) / 1000);
    running.push(client.get(graph, keys));
    await setTimeout(Math.max(0, start + (burst + 1) * BURST_MS - performance.now()));
  }
  await Promise.all(running);
  await setTimeout(300);
  return (cpu() - before) / SECONDS;
}

/** Returns the wall seconds and the CPU seconds of this thread for MANY tasks. */
async function flatOut(): Promise<Run> {
  const { graph, keys } = graphOf(MANY);
  const start = performance.now();
  const before = cpu();
  await client.get(graph, keys);
  return { wall: (performance.now() - start) / 1000, cpu: cpu() - before };
}

for (let warmUp = 0; warmUp < 5; warmUp++) await flatOut();
await pages.open(1, cluster.parts.live?.cursor.tasks ?? 0);
await paced();

const shares = new Map(PAGES.map((count): [number, number[]] => [count, []]));
let sent = 0;
for (let round = 0; round < PACED_ROUNDS; round++) {
  for (const count of PAGES) {
    const before = await pages.open(count, cluster.parts.live?.cursor.tasks ?? 0);
    shares.get(count)?.push(await paced());
    const after = await pages.open(count, cluster.parts.live?.cursor.tasks ?? 0);
    if (count === 1) sent = after.bytes - before.bytes;
  }
}
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
/** Returns, per round, the additional CPU share of the thread per page. */
const more = (count: number): number[] =>
  (shares.get(count) ?? []).map((share, round) => (share - (shares.get(0)?.[round] ?? 0)) / count);
const spread = (values: readonly number[], show: (value: number) => string): string =>
  `${show(median(values))} (${show(Math.min(...values))} to ${show(Math.max(...values))})`;
console.log(
  `${RATE} tasks/s: the scheduler's thread is busy ${percent(median(shares.get(0) ?? []))} with no page`,
);
console.log(`  one page: ${spread(more(1), percent)} more (target: at most 2 %)`);
console.log(`  ten pages: ${spread(more(10), percent)} more for each`);
console.log(`  bytes per task and page: ${(sent / (RATE * SECONDS)).toFixed(0)}`);

/** Returns medians of several consecutive runs, after a first one in which the pages start. */
async function inARow(openPages: number): Promise<Run & { readonly pages: number }> {
  await pages.open(openPages, cluster.parts.live?.cursor.tasks ?? 0);
  await flatOut();
  const before = await pages.open(openPages, cluster.parts.live?.cursor.tasks ?? 0);
  const runs = [await flatOut(), await flatOut(), await flatOut()];
  const after = await pages.open(openPages, cluster.parts.live?.cursor.tasks ?? 0);
  const wall = runs.reduce((sum, run) => sum + run.wall, 0);
  return {
    wall: median(runs.map((run) => run.wall)),
    cpu: median(runs.map((run) => run.cpu)),
    pages: (after.cpu - before.cpu) / wall,
  };
}

const ratios: (Run & { readonly pages: number })[] = [];
for (let round = 0; round < ROUNDS; round++) {
  // The order alternates, because the speed of the machine drifts.
  const first = await inARow(round % 2 === 0 ? 0 : 10);
  const second = await inARow(round % 2 === 0 ? 10 : 0);
  const [without, looked] = round % 2 === 0 ? [first, second] : [second, first];
  ratios.push({ wall: looked.wall / without.wall, cpu: looked.cpu / without.cpu, pages: looked.pages });
}
const times = (ratio: number): string => ratio.toFixed(3);
console.log(`${MANY} tasks as fast as they go, ten pages beside none:`);
console.log(
  `  CPU time of the scheduler's thread × ${spread(
    ratios.map(({ cpu }) => cpu),
    times,
  )}`,
);
console.log(
  `  time × ${spread(
    ratios.map(({ wall }) => wall),
    times,
  )} (target: at most 1.05)`,
);
console.log(`  the process of the pages: ${percent(median(ratios.map((run) => run.pages)))} of a core`);

pages.close();
await client.close();
await cluster.close();

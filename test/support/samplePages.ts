// Pages of `visualize` for tests and screenshots: simulated runs, the same on every machine.

import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { addressOfPlots } from '#internal/diagnostics/visualize.js';
import { addCacheStays, addSamples, type SampledLevel } from '#internal/trace/localMetrics.js';
import { StringTable } from '#internal/trace/stringTable.js';
import type { Trace } from '#internal/trace/trace.js';
import { TraceBuilder } from '#internal/trace/traceBuilder.js';

/** Start of the run, in epoch seconds, as in Dask's example of local diagnostics. */
const EPOCH = 1_454_368_444.25;

/** One run of a task. Times are epoch seconds. */
export interface SampleRun {
  readonly key: string;
  readonly text: string;
  readonly prefix: string;
  /** Index into the workers of the page. */
  readonly worker: number;
  readonly start: number;
  readonly stop: number;
  /** Time at which the result left the cache. Absent if no cache was observed. */
  readonly freed?: number;
  /** Size of the result in the cache, by the metric of the page. Default 1. */
  readonly metric?: number;
}

export interface SamplePage {
  readonly title: string;
  readonly workers: readonly string[];
  readonly runs: readonly SampleRun[];
  /** Names of the plots in the address of the page. */
  readonly plots: readonly string[];
  readonly trace: Trace;
}

interface PageRows extends Omit<SamplePage, 'trace'> {
  readonly metricName?: string;
  readonly resources?: Iterable<{ readonly time: number; readonly mem: number; readonly cpu: number }>;
  readonly memory?: readonly SampledLevel[];
}

export function samplePage(rows: PageRows): SamplePage {
  const { title, workers, runs, plots, metricName = 'count', resources = [], memory = [] } = rows;
  const builder = new TraceBuilder(new StringTable());
  const { strings, keys } = builder;
  const host = strings.internString('sample');
  const names = workers.map((name) => strings.internString(name));
  for (const name of names) builder.workers.of(host, name);
  builder.computations.push({
    number: 1,
    firstId: 0,
    size: runs.length,
    start: Number.NaN,
    stop: Number.NaN,
    keys: runs.map(({ key }) => key),
    client: 'local',
    code: '',
  });
  const prefix = Int32Array.from(runs, (run) => strings.internString(run.prefix));
  for (const [id, { key, text, worker, start, stop }] of runs.entries()) {
    const row = { recordedName: -1, device: -1, nbytes: Number.NaN, resultType: -1, dtype: -1, shape: -1 };
    builder.addTask(
      { ...row, key: keys.internString(key), host, worker: names[worker]!, stop, duration: stop - start },
      {
        id,
        prefix: prefix[id]!,
        computation: 0,
        thread: 0,
        started: start,
        call: strings.internString(text),
      },
    );
  }
  for (const { time, mem, cpu } of resources) {
    const figures = new Map([
      ['cpu', cpu],
      ['rss', mem * 1e6],
    ]);
    builder.resources.add({ time, worker: -1, host }, figures);
  }
  addSamples(builder.metrics, strings, memory);
  const stays = runs.flatMap(({ stop, freed, metric = 1 }, task) =>
    freed === undefined ? [] : [{ task, prefix: prefix[task]!, metric, cacheTime: stop, freeTime: freed }],
  );
  addCacheStays(builder.metrics, strings, { metricName, stays });
  return { title, workers, runs, plots, trace: builder.build() };
}

/** Writes the page as `visualize` does. */
export function writeSample({ trace, title, plots }: SamplePage, path: string): string {
  return writeReport(trace, path, { title, address: addressOfPlots(plots) });
}

/** Returns numbers in [0, 1) that are the same on every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface SimulatedTask {
  readonly key: string;
  readonly text: string;
  readonly seconds: number;
  readonly needs: readonly number[];
  readonly megabytes: number;
}

interface SimulatedRun {
  readonly worker: number[];
  readonly start: number[];
  readonly stop: number[];
}

/** Simulates a run: assigns each task, in order, to the worker that can start it first. */
function simulate(tasks: readonly SimulatedTask[], workers: number): SimulatedRun {
  const freeAt = new Array<number>(workers).fill(0);
  const run: SimulatedRun = { worker: [], start: [], stop: [] };
  for (const task of tasks) {
    const ready = task.needs.reduce((latest, need) => Math.max(latest, run.stop[need]!), 0);
    let worker = 0;
    for (let w = 1; w < workers; w++) {
      if (Math.max(ready, freeAt[w]!) < Math.max(ready, freeAt[worker]!)) worker = w;
    }
    const start = Math.max(ready, freeAt[worker]!) + 0.0004;
    run.worker.push(worker);
    run.start.push(start);
    run.stop.push(start + task.seconds);
    freeAt[worker] = start + task.seconds;
  }
  return run;
}

/** Returns the tasks of Dask's example of local diagnostics: the QR decomposition of a tall matrix in `blocks` blocks, then Q·R. */
function tsqrTasks(blocks: number): SimulatedTask[] {
  const random = randomNumbers(7);
  const token = '8d16e396b237bf7a731333130d310cb9';
  const tasks: SimulatedTask[] = [];
  const add = (key: string, text: string, seconds: number, needs: readonly number[], megabytes: number) => {
    tasks.push({ key, text, seconds: seconds * (0.75 + 0.5 * random()), needs, megabytes });
    return tasks.length - 1;
  };
  const range = Array.from({ length: blocks }, (_, i) => i);
  const blocksOf = range.map((i) =>
    add(
      `('random_sample-${token}', ${i}, 0)`,
      `random_sample(${Math.floor(random() * 2e9)}, [1000, 1000])`,
      0.16,
      [],
      8,
    ),
  );
  const qr = range.map((i) =>
    add(`('tsqr-${token}_QR_st1', ${i}, 0)`, `qr('random_sample-${token}', ${i})`, 0.42, [blocksOf[i]!], 16),
  );
  const stacked = add(`('tsqr-${token}_stack', 0)`, `vstack([${blocks} blocks])`, 0.09, qr, 8 * blocks);
  const second = add(`('tsqr-${token}_QR_st2', 0)`, 'qr(stack)', 0.55, [stacked], 8 * blocks);
  const q2 = range.map((i) => add(`('getitem-${token}', ${i})`, `getitem(Q2, [${i}])`, 0.02, [second], 8));
  const q = range.map((i) =>
    add(`('dot-${token}', ${i}, 0)`, `dot(Q1[${i}], Q2[${i}])`, 0.24, [qr[i]!, q2[i]!], 8),
  );
  const back = range.map((i) => add(`('dot-5a0e${token}', ${i}, 0)`, `dot(Q[${i}], R)`, 0.26, [q[i]!], 8));
  const sums = range.map((i) => add(`('sum-${token}', ${i})`, `sum(${i})`, 0.05, [back[i]!], 0.01));
  add(`('sum-aggregate-${token}',)`, `sum([${blocks} partial sums])`, 0.03, sums, 0.01);
  return tasks;
}

const prefixOf = (key: string) => /^\('([a-z_]+)/.exec(key)?.[1] ?? key.split('-')[0]!;

/** Returns the page of Dask's example of local diagnostics, with the task stream, CPU and memory, and the cache. */
export function tsqrPage(blocks = 40, workers = 4): SamplePage {
  const tasks = tsqrTasks(blocks);
  const run = simulate(tasks, workers);
  const end = Math.max(...run.stop);
  const freed = run.stop.map((stop) => stop);
  tasks.forEach(({ needs }, i) => {
    for (const need of needs) freed[need] = Math.max(freed[need]!, run.stop[i]!);
  });
  freed[tasks.length - 1] = end;
  return samplePage({
    title: 'tsqr.ts',
    workers: Array.from({ length: workers }, (_, i) => `threads-${i}`),
    runs: tasks.map(({ key, text, megabytes }, i) => ({
      key,
      text,
      prefix: prefixOf(key),
      worker: run.worker[i]!,
      start: EPOCH + run.start[i]!,
      stop: EPOCH + run.stop[i]!,
      freed: EPOCH + freed[i]!,
      metric: megabytes * 1e6,
    })),
    metricName: 'nbytes',
    resources: resources(tasks, run, freed, end),
    plots: ['tasks', 'resources', 'cache nbytes'],
  });
}

function resources(
  tasks: readonly SimulatedTask[],
  run: SimulatedRun,
  freed: readonly number[],
  end: number,
) {
  const random = randomNumbers(3);
  const dt = 0.1;
  const times = Array.from({ length: Math.ceil(end / dt) }, (_, i) => i * dt);
  const cpu = times.map((t) => {
    const busy = run.start.reduce(
      (sum, start, i) => sum + Math.max(0, Math.min(t + dt, run.stop[i]!) - Math.max(t, start)),
      0,
    );
    return (100 * busy * (0.94 + 0.05 * random())) / dt;
  });
  return times.map((t, at) => {
    const held = tasks.reduce(
      (sum, task, i) => sum + (run.stop[i]! <= t && t < freed[i]! ? task.megabytes : 0),
      0,
    );
    return { time: EPOCH + t, mem: 74.1 + held + 4 * random(), cpu: cpu[at]! };
  });
}

/** Returns a page with `count` tasks of about `seconds` each, with random keys, resources and a cache. */
export function largePage(count: number, workers = 4, seconds = 1e-3): SamplePage {
  const random = randomNumbers(11);
  const names = ['inc', 'double', 'sum', 'load', 'parse', 'filter', 'groupby-agg', 'write'];
  const weights = [0.34, 0.62, 0.74, 0.8, 0.9, 0.95, 0.985, 1];
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const runs: SampleRun[] = [];
  const freeAt = new Float64Array(workers);
  for (let i = 0; i < count; i++) {
    // The mix of prefixes changes over time, as in a real run.
    const drift = (random() + 0.35 * Math.sin((i / count) * 6)) % 1;
    const prefix = names[weights.findIndex((weight) => Math.abs(drift) < weight)]!;
    const key = `${prefix}-${hex()}${hex()}`;
    const worker = freeAt.indexOf(Math.min(...freeAt));
    const idle = random() < 0.02 ? random() * 20 : 0.05;
    const start = EPOCH + freeAt[worker]! + idle * seconds;
    const stop = start + seconds * (prefix === 'load' ? 4 : 0.4 + random());
    freeAt[worker] = stop - EPOCH;
    const freed = stop + seconds * (5 + 40 * random()) * (1 + Math.sin(i / count) * 2);
    runs.push({ key, text: `${prefix}(${i})`, prefix, worker, start, stop, freed });
  }
  const end = Math.max(...freeAt);
  return samplePage({
    title: `${count.toLocaleString('en')} tasks`,
    workers: Array.from({ length: workers }, (_, i) => `threads-${i}`),
    runs,
    resources: Array.from({ length: 200 }, (_, i) => ({
      time: EPOCH + (i / 199) * end,
      mem: 300 + 200 * Math.sin(i / 20) + 30 * random(),
      cpu: 100 * workers * (0.9 + 0.1 * random()),
    })),
    plots: ['tasks', 'resources', 'cache count'],
  });
}

/** Returns a page whose keys, prefixes, texts and names would run code if the page inserted them as HTML or script. */
export function hostilePage(): SamplePage {
  const hostile = [
    '<img src=x onerror=globalThis.harmed=1>',
    '</script><script>globalThis.harmed=1</script>',
    '"><svg onload=globalThis.harmed=1>',
    "');globalThis.harmed=1;('",
    '\u202eright-to-left ☠ $& $1 @LONGPOLE_DATA@',
  ];
  return samplePage({
    title: hostile.join(' '),
    workers: hostile,
    runs: hostile.map((text, worker) => {
      const start = EPOCH + worker;
      return { key: text, text, prefix: text, worker, start, stop: start + 0.9, freed: start + 2 };
    }),
    metricName: hostile[0]!,
    plots: ['tasks', `cache ${hostile[0]}`],
  });
}

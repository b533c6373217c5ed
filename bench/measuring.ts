// `node dist-test/bench/measuring.js` measures the cost of measuring. The statistical profiler runs in interleaved
// pairs, with and without it, in one process. The metering of empty tasks is compared with the same loop without it.
// Idle threads are measured, too. The figures are CPU time of the thread, not wall time, because other programs of the
// machine hardly change it. The profiler's work on the main thread is reported separately.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MetricLedger } from '#internal/engine/metrics/metricLedger.js';
import { ThreadProfiler } from '#internal/engine/profiler/threadProfiler.js';
import { epochOffsetMs, isolateClock } from '#internal/engine/worker/isolateClock.js';
import { TaskMetering } from '#internal/engine/worker/taskMetering.js';
import { threadCpuClock } from '#internal/engine/worker/threadCpuClock.js';
import { manyMetrics, meteringOfMilliseconds } from './measuringMetrics.js';
import { median } from './median.js';

const PAIRS = 7;
/** Rounds for about half a second of work. */
const ROUNDS = 150_000;
const WARM_UPS = 4;
/** Minimum number of runs after the start of the profiler. Their additional CPU time is the cost of the start. */
const STARTING_RUNS = 3;
const TASKS = 1_000_000;
const IDLE_MS = 2000;
/** Time within which the profiler of an idle thread ends and stops costing CPU time. */
const UNTIL_IDLE_MS = 4000;

interface Work {
  readonly seconds: number;
  readonly cpu: number;
}

function isWork(value: unknown): value is Work {
  return (
    typeof value === 'object' &&
    value !== null &&
    'seconds' in value &&
    typeof value.seconds === 'number' &&
    'cpu' in value &&
    typeof value.cpu === 'number'
  );
}

class Subject {
  readonly #worker: Worker;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.#worker = new Worker(new URL('measuringWorker.js', import.meta.url), { name });
  }

  async work(): Promise<Work> {
    this.#worker.postMessage(ROUNDS);
    const [answer]: unknown[] = await once(this.#worker, 'message');
    if (!isWork(answer)) throw new TypeError('The worker of the bench sent an unknown answer.');
    return answer;
  }

  terminate(): Promise<number> {
    return this.#worker.terminate();
  }
}

interface Overhead {
  readonly thread: number;
  /** Seconds of the main thread per second of work. */
  readonly main: number;
  /** CPU seconds of the thread for starting. */
  readonly start: number;
}

/** Returns the additional CPU time with the profiler as a share. */
async function profilerOverhead(interval: number): Promise<Overhead> {
  const subject = new Subject(`bench-${interval}`);
  for (let run = 0; run < WARM_UPS; run++) await subject.work();
  const cpuClock = await threadCpuClock();
  const ratios: number[] = [];
  const shares: number[] = [];
  const starts: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const off = await subject.work();
    let cycles = 0;
    const profiler = new ThreadProfiler({
      thread: subject.name,
      interval,
      epochOffsetMs: epochOffsetMs(),
      onCycle: () => {
        cycles++;
      },
    });
    profiler.busy();
    // The start makes V8 compile optimised code again, once for a busy thread.
    let start = 0;
    for (let run = 0; run < STARTING_RUNS || cycles === 0; run++) {
      start += (await subject.work()).cpu - off.cpu;
      await profiler.flush();
    }
    starts.push(start);
    const main = cpuClock?.() ?? Number.NaN;
    const on = await subject.work();
    await profiler.flush();
    shares.push(((cpuClock?.() ?? Number.NaN) - main) / on.seconds);
    profiler.close();
    ratios.push(on.cpu / off.cpu - 1);
  }
  await subject.terminate();
  return { thread: median(ratios), main: median(shares), start: median(starts) };
}

interface IdleCost {
  /** CPU seconds of the process from the end of the work until the profiler has ended. */
  readonly ending: number;
  /** CPU seconds of the process per second after that. */
  readonly after: number;
}

/** Measures the cost of an idle thread. */
async function idleCost(profiled: boolean): Promise<IdleCost> {
  const subject = new Subject(`bench-idle-${profiled}`);
  await subject.work();
  const profiler = profiled
    ? new ThreadProfiler({ thread: subject.name, epochOffsetMs: epochOffsetMs(), onCycle: () => undefined })
    : undefined;
  profiler?.busy();
  await subject.work();
  profiler?.idle();
  // The profiler ends some time after the thread has become idle.
  const ending = await cpuSeconds(UNTIL_IDLE_MS);
  const after = (await cpuSeconds(IDLE_MS)) / (IDLE_MS / 1000);
  profiler?.close();
  await subject.terminate();
  return { ending, after };
}

/** Returns the CPU seconds of the process in this time. */
async function cpuSeconds(milliseconds: number): Promise<number> {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function increment(value: number): number {
  return value + 1;
}

/** Returns the nanoseconds per empty task, with and without metering. */
async function meteringCost(): Promise<{ readonly off: number; readonly on: number }> {
  const clock = isolateClock(epochOffsetMs());
  const metering = new TaskMetering(new MetricLedger(), clock, await threadCpuClock());
  const kind = metering.kind('increment');
  let sum = 0;
  const off = (): void => {
    for (let task = 0; task < TASKS; task++) {
      sum += increment(task);
      clock();
    }
  };
  const on = (): void => {
    let start = clock();
    for (let task = 0; task < TASKS; task++) {
      const meter = metering.begin(kind, start);
      sum += increment(task);
      const stop = clock();
      metering.end(meter, kind, start, stop);
      start = stop;
    }
    metering.leave();
  };
  const time = (run: () => void): number => {
    const start = performance.now();
    run();
    return ((performance.now() - start) * 1e6) / TASKS;
  };
  const times = Array.from({ length: PAIRS }, () => ({ off: time(off), on: time(on) }));
  metering.close();
  if (sum === 0) throw new Error('No task ran.');
  return { off: median(times.map((each) => each.off)), on: median(times.map((each) => each.on)) };
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

for (const [interval, target] of [
  [0.01, '1 %'],
  [0.001, '4 %'],
] as const) {
  const { thread, main, start } = await profilerOverhead(interval);
  console.log(
    `profiler, a sample every ${interval * 1000} ms: ${percent(thread)} of the thread (target ≤ ${target}), ${percent(main)} of the main thread; starting ${(start * 1000).toFixed(0)} ms, once`,
  );
}
const [idleOff, idleOn] = [await idleCost(false), await idleCost(true)];
const ending = (1000 * (idleOn.ending - idleOff.ending)).toFixed(0);
console.log(
  `idle thread, per second: ${percent(idleOff.after)} without the profiler, ${percent(idleOn.after)} with it, which ended within ${UNTIL_IDLE_MS / 1000} s of the last task and took ${ending} ms of CPU time for that`,
);
const { off, on } = await meteringCost();
console.log(
  `metering, per empty task: ${(on - off).toFixed(0)} ns more than ${off.toFixed(0)} ns (target ≤ 2000 ns)`,
);
const { nanoseconds, share } = await meteringOfMilliseconds();
console.log(`metering, per task of 1 ms: ${nanoseconds.toFixed(0)} ns, ${percent(share)} (target ≤ 0.5 %)`);
for (const line of manyMetrics()) console.log(line);
process.exit(0);

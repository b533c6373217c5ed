// Rows of the bench for measuring: the cost of metering tasks of a millisecond, and the cost of many prefixes and spans
// in heartbeats and memory.
import { serialize } from 'node:v8';
import { MetricLedger } from '#internal/engine/metrics/metricLedger.js';
import { TaskMetering } from '#internal/engine/worker/taskMetering.js';
import { threadCpuClock } from '#internal/engine/worker/threadCpuClock.js';
import { median } from './median.js';

const TASKS = 20_000;
const ROUNDS = 9;
const TASK_SECONDS = 1e-3;

const PREFIXES = 10_000;
const SPANS = 1000;
/** Pairs of prefix and span with tasks, more than a ledger keeps apart. */
const PAIRS = 300_000;
const ACTIVITIES = ['thread-cpu', 'thread-noncpu', 'executor'];

/**
 * Measures `begin` and `end` for a task that is longer than a window and therefore shares no reading of the CPU clock.
 * The tasks only report their time and do not spend it, because the variation of real runs would exceed the cost.
 */
export async function meteringOfMilliseconds(): Promise<{
  readonly nanoseconds: number;
  readonly share: number;
}> {
  const metering = new TaskMetering(new MetricLedger(), () => 0, await threadCpuClock());
  const kind = metering.kind('increment');
  const run = (): number => {
    const began = performance.now();
    let start = 0;
    for (let task = 0; task < TASKS; task++) {
      const meter = metering.begin(kind, start);
      start += TASK_SECONDS;
      metering.end(meter, kind, start - TASK_SECONDS, start);
    }
    metering.leave();
    return ((performance.now() - began) * 1e6) / TASKS;
  };
  run();
  const nanoseconds = median(Array.from({ length: ROUNDS }, run));
  metering.close();
  return { nanoseconds, share: nanoseconds / 1e9 / TASK_SECONDS };
}

/** Returns lines about the ledgers of a worker and of the scheduler, which receives its heartbeats. */
export function manyMetrics(): string[] {
  const [worker, scheduler] = [new MetricLedger(), new MetricLedger()];
  const before = heapBytes();
  for (let pair = 0; pair < PAIRS; pair++)
    for (const activity of ACTIVITIES)
      worker.add(
        ['execute', `span-${pair % SPANS}`, `prefix-${pair % PREFIXES}-${pair % 7}`, activity, 'seconds'],
        1,
      );
  const held = heapBytes() - before;
  const sizes: number[] = [];
  let keys = 0;
  for (let changes = worker.takeChanges(); changes.keys.length > 0; changes = worker.takeChanges()) {
    sizes.push(serialize(changes).byteLength);
    keys += changes.keys.length;
    scheduler.merge(changes);
  }
  worker.add(['execute', 'span-1', 'prefix-1-1', 'thread-cpu', 'seconds'], 1);
  const one = serialize(worker.takeChanges()).byteLength;
  const total = (ledger: MetricLedger): number => [...ledger].reduce((sum, [, value]) => sum + value, 0);
  if (total(worker) !== PAIRS * ACTIVITIES.length + 1) throw new Error('A metric was lost.');
  const count = (value: number): string => value.toLocaleString('en');
  return [
    `${count(PAIRS * ACTIVITIES.length)} metrics of ${count(PREFIXES * 7)} prefixes in ${count(SPANS)} spans: the ledger keeps ${count(worker.size)} apart in ${(held / 1e6).toFixed(0)} MB`,
    `heartbeats with all of them: ${sizes.length}, the largest ${(Math.max(...sizes) / 1e3).toFixed(0)} kB, ${count(keys)} keys in all; after one more task: ${one} bytes`,
  ];
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

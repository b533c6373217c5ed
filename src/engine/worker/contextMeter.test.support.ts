// Tasks on a fake clock, and the seconds that are counted for them.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { MetricLedger } from '../metrics/metricLedger.js';
import { meterContext } from './meterContext.js';
import { type Outcome, type TaskKind, TaskMetering } from './taskMetering.js';

/** Time of the fake clock, in milliseconds. */
let nowMs = 0;
/** Replaces `performance.now` by the fake clock. The caller restores mocks after the test. */
export function useFakeClock(): void {
  mock.method(performance, 'now', () => nowMs);
}

export const clock = (): number => performance.now() / 1000;
/** The thread has its core for half of the time. */
const cpuSeconds = (): number => clock() / 2;

export function pass(seconds: number): void {
  nowMs += seconds * 1000;
}

export interface Bench {
  readonly ledger: MetricLedger;
  readonly metering: TaskMetering;
  /** Wall seconds of all tasks. */
  wall: number;
  run<T>(kind: TaskKind, body: () => T): T;
  runAsync<T>(kind: TaskKind, body: () => Promise<T>): Promise<T>;
  /** Returns the sums of the prefix in this unit, by activity. */
  sums(prefix: string, unit?: string): Record<string, number>;
}

export function bench(cpuClock: (() => number) | undefined = cpuSeconds): Bench {
  const ledger = new MetricLedger();
  const metering = new TaskMetering(ledger, clock, cpuClock);
  metering.close();
  const self: Bench = {
    ledger,
    metering,
    wall: 0,
    run: (kind, body) => {
      const start = clock();
      const task = metering.begin(kind, start);
      let outcome: Outcome = 'failed';
      try {
        const value = body();
        outcome = 'done';
        return value;
      } finally {
        const stop = clock();
        metering.end(task, kind, start, stop, outcome);
        self.wall += stop - start;
        meterContext.enterWith(undefined);
      }
    },
    runAsync: (kind, body) =>
      meterContext.run(undefined, async () => {
        const start = clock();
        const task = metering.begin(kind, start);
        const value = await body();
        const stop = clock();
        metering.end(task, kind, start, stop);
        self.wall += stop - start;
        return value;
      }),
    sums: (prefix, unit = 'seconds') => {
      metering.flush();
      return Object.fromEntries(
        [...ledger]
          .filter(([key]) => key[2] === prefix && key[4] === unit)
          .map(([key, value]) => [key[3], value]),
      );
    },
  };
  return self;
}

export const total = (sums: Record<string, number>): number =>
  Object.values(sums).reduce((sum, each) => sum + each, 0);
export const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

/** Time at which a waiting task continues, in milliseconds of the fake clock. */
const timers: { readonly at: number; readonly wake: () => void }[] = [];

/** Returns a promise that resolves when the fake clock has passed on; `runTimers` moves the clock. */
export function sleep(seconds: number): Promise<void> {
  return new Promise((wake) => {
    timers.push({ at: nowMs + seconds * 1000, wake });
  });
}

/** Moves the fake clock from timer to timer until none is left. Promises settle between two timers. */
export async function runTimers(): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    timers.sort((a, b) => a.at - b.at);
    const next = timers.shift();
    if (next === undefined) return;
    nowMs = Math.max(nowMs, next.at);
    next.wake();
  }
}

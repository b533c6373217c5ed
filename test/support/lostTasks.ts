// Tasks that end abnormally, for tests of how their time is counted.
import { existsSync, writeFileSync } from 'node:fs';
import { tasks } from 'longpole';

export const lost = tasks(import.meta.url, {
  /** Runs for the given time. */
  work(seconds: number): number {
    return burnFor(seconds);
  },
  /** Computes until the file `open` exists. Creates the file `begun` first. */
  workUntil(begun: string, open: string): number {
    writeFileSync(begun, '');
    let rounds = 0;
    while (!existsSync(open)) rounds += burnFor(0.001);
    return rounds;
  },
  /** Waits for the file `open` without blocking the event loop. Creates the file `begun` first. */
  async waitUntil(begun: string, open: string): Promise<string> {
    writeFileSync(begun, '');
    while (!existsSync(open)) await new Promise((resolve) => setTimeout(resolve, 2));
    return open;
  },
  /** Ends its worker in the middle of every run. */
  exitAfter(seconds: number, _after?: unknown): number {
    burnFor(seconds);
    return process.exit(3);
  },
  /** Kills the process that it runs in. */
  killAfter(seconds: number, _after?: unknown): number {
    burnFor(seconds);
    process.kill(process.pid, 'SIGKILL');
    return burnFor(60);
  },
  answered(): boolean {
    return true;
  },
  total(...parts: number[]): number {
    return parts.reduce((sum, part) => sum + part, 0);
  },
  failAfter(seconds: number): never {
    burnFor(seconds);
    throw new RangeError('no');
  },
});

/** Longest time between two readings of the clock that counts, in milliseconds. A longer one contains a pause. */
const LAP = 5;

/**
 * Computes for the given time. A pause of the process counts little: otherwise a task could end its process before the
 * thread of the host has reported that it runs.
 */
function burnFor(seconds: number): number {
  let sum = 0;
  for (let left = seconds * 1000, last = performance.now(); left > 0; ) {
    for (let step = 0; step < 1000; step++) sum += Math.sqrt(step);
    const now = performance.now();
    left -= Math.min(LAP, now - last);
    last = now;
  }
  return sum;
}

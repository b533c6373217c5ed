// Tasks that do not end as tasks should, for the tests of what their time counts as.
import { existsSync, writeFileSync } from 'node:fs';
import { tasks } from 'longpole';

export const lost = tasks(import.meta.url, {
  /** Takes this long. */
  work(seconds: number): number {
    return burnFor(seconds);
  },
  /** Computes until the file `open` is there, and makes the file `begun` first. */
  workUntil(begun: string, open: string): number {
    writeFileSync(begun, '');
    let rounds = 0;
    while (!existsSync(open)) rounds += burnFor(0.001);
    return rounds;
  },
  /** The same, while others may run. */
  async waitUntil(begun: string, open: string): Promise<string> {
    writeFileSync(begun, '');
    while (!existsSync(open)) await new Promise((resolve) => setImmediate(resolve));
    return open;
  },
  /** Ends its worker in the middle of it, as often as it is run. */
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
  heard(): boolean {
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

function burnFor(seconds: number): number {
  const end = performance.now() + seconds * 1000;
  let sum = 0;
  while (performance.now() < end) for (let step = 0; step < 1000; step++) sum += Math.sqrt(step);
  return sum;
}

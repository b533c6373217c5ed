// Tasks for the tests that run on Dask workers.
import { existsSync, writeFileSync } from 'node:fs';
import { tasks } from 'longpole';

export const { square, sum, ones, where, fail, failOnce, dieOnce, hold, exit, loop, spin } = tasks(
  import.meta.url,
  {
    square: (value: number) => value * value,
    sum: (values: Float64Array) => values.reduce((total, value) => total + value, 0),
    ones: (length: number) => new Float64Array(length).fill(1),
    where: (_index: number) => process.pid,
    fail: (): number => {
      throw new RangeError('out of range');
    },
    /** Throws in the first call. */
    failOnce: (file: string): number => {
      if (existsSync(file)) return 6;
      writeFileSync(file, '');
      throw new Error('the first call');
    },
    /** Kills its process in the first call. */
    dieOnce: (file: string): string => {
      if (existsSync(file)) return 'alive';
      writeFileSync(file, '');
      process.kill(process.pid, 'SIGKILL');
      return 'dead';
    },
    exit: (code: number): never => process.exit(code),
    /** Never ends, and never yields. */
    loop: (): never => {
      for (;;) performance.now();
    },
    spin: (seconds: number): number => {
      const end = performance.now() + 1000 * seconds;
      let roots = 0;
      while (performance.now() < end) for (let value = 0; value < 1e5; value++) roots += Math.sqrt(value);
      return roots;
    },
    /** Runs until its process ends. */
    hold: (file: string): Promise<void> => {
      writeFileSync(file, String(process.pid));
      return new Promise(() => setInterval(() => undefined, 1000));
    },
  },
);

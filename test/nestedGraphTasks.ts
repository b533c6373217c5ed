// A task that computes a graph of its own.
import { compute, tasks } from 'longpole';

const { inc } = tasks(import.meta.url, { inc: (x: number): number => x + 1 });

export const { incAll } = tasks(import.meta.url, {
  incAll: (numbers: readonly number[]): Promise<number[]> =>
    compute(
      numbers.map((x) => inc(x)),
      { scheduler: 'threads', numWorkers: 2 },
    ),
});

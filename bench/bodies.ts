// Task bodies that do almost nothing, so that the bench measures the engine.
import { tasks } from 'longpole';

export const { inc, sum } = tasks(import.meta.url, {
  inc(value: number): number {
    return value + 1;
  },
  sum(values: readonly number[]): number {
    let total = 0;
    for (const value of values) total += value;
    return total;
  },
});

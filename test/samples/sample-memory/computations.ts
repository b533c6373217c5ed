import { tasks } from 'longpole';

const { numbers, sum } = tasks(import.meta.url, {
  numbers: (size: number) => new Float64Array(size).fill(1),
  sum: (values: Float64Array) => values.reduce((a, b) => a + b, 0),
});

export const first = sum(numbers(10_000));
export const second = sum(numbers(20_000));

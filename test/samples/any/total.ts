// For pages that take a result for granted.
import { tasks } from 'longpole';

const { square, add } = tasks(import.meta.url, {
  square: (x: number) => x * x,
  add: (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0),
});

export const total = add([1, 2, 3, 4].map((x) => square(x)));

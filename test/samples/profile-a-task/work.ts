import { tasks } from 'longpole';

export const { simulate } = tasks(import.meta.url, {
  simulate(milliseconds: number): number {
    const end = performance.now() + milliseconds;
    let sum = 0;
    for (let i = 0; performance.now() < end; i++) sum += Math.sin(i);
    return sum;
  },
});

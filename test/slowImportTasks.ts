// Tasks whose module computes for some time while a worker imports it.
import { isMainThread } from 'node:worker_threads';
import { tasks } from 'longpole';

let sum = 0;
if (!isMainThread) for (let i = 0; i < 2e7; i++) sum += i;

export const s = tasks(import.meta.url, { inc: (x: number) => x + 1 });
export { sum };

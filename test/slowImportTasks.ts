// Tasks whose module waits for long while a worker imports it.
import { isMainThread } from 'node:worker_threads';
import { tasks } from 'longpole';

if (!isMainThread) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);

export const s = tasks(import.meta.url, { inc: (x: number) => x + 1 });

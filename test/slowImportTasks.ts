// Tasks whose module computes for long while a worker imports it.
import { isMainThread } from 'node:worker_threads';
import { tasks } from 'longpole';

const begun = performance.now();
while (!isMainThread && performance.now() < begun + 200);

export const s = tasks(import.meta.url, { inc: (x: number) => x + 1 });

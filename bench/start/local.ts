// The shortest program on a local scheduler: node local.js threads|processes WORKERS
import { getMultiprocessing, getThreaded } from 'longpole/local';
import { startTasks } from './startTasks.js';

const [kind, workers] = process.argv.slice(2);
const get = kind === 'threads' ? getThreaded : getMultiprocessing;
console.log(await get({ one: [startTasks.inc, 0] }, 'one', { numWorkers: Number(workers) }));

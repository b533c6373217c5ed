import { ThreadWorker } from 'poolifier';
import { inc, sum } from './namedExports.js';

export default new ThreadWorker<number | readonly number[], number>({
  inc: (data) => (typeof data === 'number' ? inc(data) : 0),
  sum: (data) => (typeof data === 'object' ? sum(data) : 0),
});

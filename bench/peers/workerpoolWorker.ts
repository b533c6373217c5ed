import workerpool from 'workerpool';
import { inc, sum } from './namedExports.js';

workerpool.worker({ inc, sum });

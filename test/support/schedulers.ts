// The three schedulers under one signature, for tests of their common behaviour.
import {
  type GetOptions,
  type Graph,
  getMultiprocessing,
  getSync,
  getThreaded,
  type Keys,
} from 'longpole/local';

export interface NamedScheduler {
  readonly name: string;
  get(graph: Graph, keys: Keys, options?: GetOptions): Promise<unknown>;
}

const workers = { numWorkers: 2 };

export const THREADED: NamedScheduler = {
  name: 'getThreaded',
  get: (graph, keys, options) => getThreaded(graph, keys, { ...workers, ...options }),
};

export const MULTIPROCESSING: NamedScheduler = {
  name: 'getMultiprocessing',
  get: (graph, keys, options) => getMultiprocessing(graph, keys, { ...workers, ...options }),
};

export const SYNC: NamedScheduler = {
  name: 'getSync',
  get: async (graph, keys, options) => getSync(graph, keys, options),
};

export const ALL: readonly NamedScheduler[] = [SYNC, THREADED, MULTIPROCESSING];
export const PARALLEL: readonly NamedScheduler[] = [THREADED, MULTIPROCESSING];

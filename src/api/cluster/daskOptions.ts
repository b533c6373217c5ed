// The options of a connection to a Dask cluster.
import { ANY, COUNT, checkOptions, type OptionKinds, oneOf, TEXT } from '../../base/arguments.js';
import { ACCESS, type DaskAccess } from '../../dask/schedulerAddress.js';
import { CLUSTER_OPTIONS, type LocalClusterOptions } from './clusterOptions.js';

/** Options that a LocalCluster has, too. */
type SharedOptions = Pick<
  LocalClusterOptions,
  'memory' | 'profile' | 'workerTtl' | 'concurrentTasks' | 'allowedFailures' | 'record' | 'dashboard'
>;

export interface DaskOptions extends SharedOptions, DaskAccess {
  /** Node on the workers. Default: LONGPOLE_NODE in the environment of the program, else of the worker, else `node`. */
  readonly node?: string;
  /**
   * `bundle`: packages that tasks import are sent with their modules. `installed`: workers have the packages, in the
   * folder LONGPOLE_NODE_MODULES of their environment, else in `node_modules` of their working directory. Default
   * `bundle`.
   */
  readonly nodeModules?: 'bundle' | 'installed';
  /** Number of workers of the cluster that `'dask'` starts. Default: that of Dask. */
  readonly workers?: number;
  /** Number of threads of each of these workers. Default: that of Dask. */
  readonly threads?: number;
}

const SHARED: OptionKinds<SharedOptions> = {
  memory: CLUSTER_OPTIONS.memory,
  profile: CLUSTER_OPTIONS.profile,
  workerTtl: ANY,
  concurrentTasks: COUNT,
  allowedFailures: COUNT,
  record: CLUSTER_OPTIONS.record,
  dashboard: CLUSTER_OPTIONS.dashboard,
};

export const DASK_OPTIONS: OptionKinds<DaskOptions> = {
  ...SHARED,
  ...ACCESS,
  node: TEXT,
  nodeModules: oneOf(['bundle', 'installed']),
  workers: COUNT,
  threads: COUNT,
};

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT */
export function checkDaskOptions(options: DaskOptions): void {
  checkOptions('connect()', options, DASK_OPTIONS);
}

/** Returns the options that both kinds of clusters have. */
export function sharedOptions(options: SharedOptions): SharedOptions {
  const shared = Object.entries(options).filter(([name]) => Object.hasOwn(SHARED, name));
  return Object.fromEntries(shared);
}

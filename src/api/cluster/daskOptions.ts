// The options of a connection to a Dask cluster.
import {
  ANY,
  COUNT,
  checkOptions,
  isOptionsObject,
  kind,
  type OptionKinds,
  oneOf,
  TEXT,
} from '../../base/arguments.js';
import type { DaskSecurity } from '../../dask/schedulerAddress.js';
import { CLUSTER_OPTIONS, type LocalClusterOptions } from './clusterOptions.js';

/** Options that a LocalCluster has, too. */
type SharedOptions = Pick<
  LocalClusterOptions,
  'memory' | 'profile' | 'workerTtl' | 'concurrentTasks' | 'allowedFailures' | 'record' | 'dashboard'
>;

export interface DaskOptions extends SharedOptions {
  /**
   * A Python with `distributed`. Default: the first with it of LONGPOLE_PYTHON, `.venv/bin/python`, `python3`,
   * `python`.
   */
  readonly python?: string;
  /** Node on the workers. Default: LONGPOLE_NODE in the environment of the program, else of the worker, else `node`. */
  readonly node?: string;
  /**
   * `bundle`: packages that tasks import are sent with their modules. `installed`: workers have the packages, in the
   * folder LONGPOLE_NODE_MODULES of their environment, else in `node_modules` of their working directory. Default
   * `bundle`.
   */
  readonly nodeModules?: 'bundle' | 'installed';
  /** Certificates for a cluster with TLS. Default: those of Dask's configuration. */
  readonly security?: DaskSecurity;
  /** Seconds to wait for the scheduler's answer, more than 0, at most 3600. Default 10. */
  readonly timeout?: number;
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
  python: TEXT,
  node: TEXT,
  nodeModules: oneOf(['bundle', 'installed']),
  security: kind('{ ca, cert, key }', isOptionsObject),
  timeout: kind(
    'seconds above 0, at most 3600',
    (value) => typeof value === 'number' && value > 0 && value <= 3600,
  ),
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

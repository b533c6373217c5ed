// The options of a LocalCluster, and the settings that result from them.
import {
  ANY,
  COUNT,
  checkOptions,
  FLAG,
  invalid,
  isOptionsObject,
  kind,
  type OptionKinds,
  oneOf,
  RESOURCES,
  TEXT,
} from '../../base/arguments.js';
import { recordOf } from '../../base/lookUps.js';
import { readMemoryLimit, readSetting, type Settings } from '../../base/settings.js';
import { ACCESS, type DaskAccess } from '../../dask/schedulerAddress.js';
import type { ClusterEngineOptions } from '../../engine/cluster/clusterEngine.js';
import type { WorkerSettings } from '../../engine/cluster/workerPlaces.js';
import { nodeProfile } from '../../engine/profiler/nodeProfile.js';
import type { ProfileSettings } from '../../protocol/clusterObserver.js';
import type { MemoryThresholds } from '../../protocol/workerMessages.js';
import { coreCount, usableMemory } from '../../resources/containerLimits.js';
import { config } from '../config.js';
import { DASHBOARD_OPTIONS, type DashboardOptions } from '../dashboardOptions.js';

export interface LocalClusterOptions {
  /** Number of workers, at least 1. Default: the setting `workers`, else one per core. */
  readonly workers?: number;
  /** Whether workers are processes instead of threads. Default: the setting `processes`, which is false. */
  readonly processes?: boolean;
  /**
   * Memory limit of a worker in bytes, or as `'2GB'` or `'500 MiB'`; 0 for no limit. Default: the setting
   * `memory-limit`, else 90 % of the machine's memory, divided by the number of workers.
   */
  readonly memoryLimit?: number | string;
  /** Shares of the memory limit at which a worker spills, pauses and terminates. Default: the settings `memory-…`. */
  readonly memory?: Partial<MemoryThresholds>;
  /** Folder for spilled results. Default: the setting `local-directory`, else a new temporary folder. */
  readonly localDirectory?: string;
  /** Resources of each worker for tasks that require them, e.g. `{ GPU: 1 }`. Default: none. */
  readonly resources?: Readonly<Record<string, number>>;
  /**
   * Number of asynchronous tasks that a worker runs at a time, e.g. 20 for requests: while they await, other tasks run
   * on the worker. Default 1.
   */
  readonly concurrentTasks?: number;
  /** Worker deaths during one task after which the task fails. Default 3, minimum 1. */
  readonly allowedFailures?: number;
  /**
   * Interval of the statistical profiler and of its reports, in seconds; false for no profiler. Default: the settings
   * `profile`, `profile-interval` (0.01) and `profile-cycle-interval` (1).
   */
  readonly profile?: { readonly interval?: number; readonly cycleInterval?: number } | false;
  /**
   * Seconds after which a worker is replaced by a new one and leaves, once it has finished its tasks. If no new worker
   * can be started, the old one stays. Default: never.
   */
  readonly lifetime?: number;
  /**
   * Seconds without a message or heartbeat after which a worker process is replaced and its tasks run again; false for
   * never. After the same time, but at least 180 s, a computation without any progress fails if it has tasks that could
   * run. Default: the setting `worker-ttl`, which is 300.
   */
  readonly workerTtl?: number | string | false;
  /**
   * Whether to keep the live trace, which costs less than 0.1 µs per task. Default true. The dashboard needs the trace.
   */
  readonly record?: boolean;
  /**
   * Whether to serve the dashboard, or its options. See `dashboardLink`. Default: the setting `dashboard`, which is
   * false.
   */
  readonly dashboard?: boolean | DashboardOptions;
}

/** Options that are settings, too, are checked as settings. */
export const CLUSTER_OPTIONS: OptionKinds<LocalClusterOptions> = {
  workers: COUNT,
  processes: FLAG,
  memoryLimit: ANY,
  memory: ANY,
  localDirectory: TEXT,
  resources: RESOURCES,
  concurrentTasks: COUNT,
  allowedFailures: COUNT,
  profile: kind(
    '{ interval, cycleInterval }, or false',
    (value) => value === false || isOptionsObject(value),
  ),
  lifetime: kind('seconds above 0', (value) => typeof value === 'number' && value > 0),
  workerTtl: ANY,
  record: FLAG,
  dashboard: kind(
    'true, false or { host, port, token, names }',
    (value) => typeof value === 'boolean' || isOptionsObject(value),
  ),
};

const THRESHOLDS: OptionKinds<MemoryThresholds> = { target: ANY, spill: ANY, pause: ANY, terminate: ANY };
const PROFILE_OPTIONS = { interval: ANY, cycleInterval: ANY };

/** Settings of a cluster, read once at its start, because the program may change settings while the cluster starts. */
export interface ClusterSettings
  extends Pick<ClusterEngineOptions, 'threads' | 'allowedFailures' | 'concurrentTasks'> {
  readonly workers: number;
  readonly settings: WorkerSettings;
  readonly localDirectory: string | undefined;
  /** Whether to keep a live trace. */
  readonly record: boolean;
  readonly serving: Serving;
}

/**
 * @param options options that were checked
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_CONFIG
 */
export function clusterSettings(options: LocalClusterOptions): ClusterSettings {
  if (typeof options.dashboard === 'object')
    checkOptions('LocalCluster: dashboard', options.dashboard, DASHBOARD_OPTIONS);
  checkOptions('LocalCluster: memory', options.memory, THRESHOLDS);
  const workers = options.workers ?? config.get('workers') ?? coreCount();
  const processes = options.processes ?? config.get('processes');
  const { dashboard, allowedFailures = 3, concurrentTasks = 1 } = options;
  const settings = {
    memoryLimit: memoryLimit(options.memoryLimit ?? config.get('memory-limit'), workers),
    thresholds: {
      target: config.get('memory-target'),
      spill: config.get('memory-spill'),
      pause: config.get('memory-pause'),
      terminate: config.get('memory-terminate'),
      ...options.memory,
    },
    profile: profileSettings(options.profile),
    resources: new Map(Object.entries(options.resources ?? {})),
    ttl: readSetting('worker-ttl', options.workerTtl ?? config.get('worker-ttl'), 'LocalCluster: workerTtl'),
  };
  const serving: Serving = {
    dashboard: dashboard === true ? {} : dashboard || undefined,
    configured: dashboard === undefined && config.get('dashboard') ? config.get('dashboard-port') : undefined,
    signal: config.get('dump-signal'),
  };
  return {
    workers,
    threads: !processes,
    allowedFailures,
    concurrentTasks,
    settings,
    localDirectory: options.localDirectory ?? config.get('local-directory'),
    record: options.record !== false || serving.dashboard !== undefined,
    serving,
  };
}

/** Options and settings of the dashboard and the dump signal, read at the start of the cluster. */
export interface Serving {
  readonly dashboard: DashboardOptions | undefined;
  /** Port of the dashboard if the settings request one and the program has no option. */
  readonly configured: number | undefined;
  readonly signal: Settings['dump-signal'];
}

function profileSettings(option: LocalClusterOptions['profile']): ProfileSettings | undefined {
  if (option === false || (option === undefined && !config.get('profile'))) return undefined;
  const where = 'LocalCluster: profile';
  checkOptions(where, option, PROFILE_OPTIONS);
  const other = nodeProfile();
  if (other !== undefined) {
    warnOfNoProfile(other);
    return undefined;
  }
  const { interval = config.get('profile-interval'), cycleInterval = config.get('profile-cycle-interval') } =
    option ?? {};
  return {
    interval: readSetting('profile-interval', interval, `${where}.interval`),
    cycleInterval: readSetting('profile-cycle-interval', cycleInterval, `${where}.cycleInterval`),
  };
}

let hasWarned = false;

function warnOfNoProfile(other: string): void {
  if (hasWarned) return;
  hasWarned = true;
  const text = `Longpole takes no profile, because this program runs with \`${other}\`: Node would print every profile. Run it without \`${other}\` to have one.`;
  process.emitWarning(text, { type: 'LongpoleWarning', code: 'LONGPOLE_NO_PROFILE' });
}

function memoryLimit(option: number | string | undefined, workers: number): number {
  if (option === undefined) return Math.floor(usableMemory() / workers);
  const bytes = option === Number.POSITIVE_INFINITY ? option : readMemoryLimit(option);
  if (bytes === undefined)
    throw invalid(
      'memoryLimit',
      option,
      "bytes, or a text such as '2GB' or '500 MiB': 0 for no limit, or at least 1 MB",
    );
  return bytes;
}

/** Options that both kinds of clusters have. */
const SHARED = [
  'memory',
  'profile',
  'workerTtl',
  'concurrentTasks',
  'allowedFailures',
  'record',
  'dashboard',
] as const;
type SharedOptions = Pick<LocalClusterOptions, (typeof SHARED)[number]>;

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

export const DASK_OPTIONS: OptionKinds<DaskOptions> = {
  ...recordOf(SHARED, (name) => CLUSTER_OPTIONS[name]),
  ...ACCESS,
  node: TEXT,
  nodeModules: oneOf(['bundle', 'installed']),
  workers: COUNT,
  threads: COUNT,
};

/** Returns the options that both kinds of clusters have. */
export function sharedOptions(options: SharedOptions): SharedOptions {
  const shared = Object.entries(options).filter(([name]) => SHARED.some((one) => one === name));
  return Object.fromEntries(shared);
}

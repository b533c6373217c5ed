// The options of a LocalCluster, and the settings of workers that follow from them.
import { availableParallelism, freemem, totalmem } from 'node:os';
import {
  ANY,
  COUNT,
  checkCount,
  checkOptions,
  FLAG,
  invalid,
  isOptionsObject,
  kind,
  type OptionKinds,
  RESOURCES,
  TEXT,
} from '../../base/arguments.js';
import { readBytes, readSetting, type Settings } from '../../base/settings.js';
import type { WorkerSettings } from '../../engine/cluster/workerPlaces.js';
import type { MemoryThresholds } from '../../engine/store/memoryMonitor.js';
import type { ProfileSettings } from '../../protocol/profileCycle.js';
import type { DashboardServerOptions } from '../../server/dashboardServer.js';
import { config } from '../config.js';

/** Where the dashboard listens and who may look; see docs/dashboard.md. */
export type DashboardOptions = Pick<DashboardServerOptions, 'host' | 'port' | 'token' | 'names'>;

export interface LocalClusterOptions {
  /** How many. Default: one per core. Minimum 1. */
  readonly workers?: number;
  /** Worker processes instead of worker threads. Default false. */
  readonly processes?: boolean;
  /** Memory per worker in bytes, or as `'2GB'`, `'500 MiB'`; 0: no limit. Default: this machine's, divided by the workers. */
  readonly memoryLimit?: number | string;
  /** Shares of the limit at which a worker spills, pauses and ends. */
  readonly memory?: Partial<MemoryThresholds>;
  /** Where workers keep spilled results. Default: a directory of its own below that for temporary files. */
  readonly localDirectory?: string;
  /** What each worker offers to tasks that ask for resources, e.g. `{ GPU: 1 }`. */
  readonly resources?: Readonly<Record<string, number>>;
  /** How often a task may be running when its worker dies. Default 3, minimum 1. */
  readonly allowedFailures?: number;
  /**
   * How the statistical profiler samples workers and the scheduler, in seconds; false: not at all. Default: the settings
   * `profile`, `profile-interval` (0.01) and `profile-cycle-interval` (1).
   */
  readonly profile?: { readonly interval?: number; readonly cycleInterval?: number } | false;
  /**
   * Seconds after which a worker is replaced by a new one, once it has finished what it has. Default: never. While no new one
   * can be started, the old one stays.
   */
  readonly lifetime?: number;
  /**
   * Seconds after which a worker process of which nothing is heard, not even its heartbeat, is replaced, and what it did is
   * done again; false: never. After as long, at least 180 s, computations fail in which nothing happens although tasks could run.
   * Default: the setting `worker-ttl`, which is 300.
   */
  readonly workerTtl?: number | string | false;
  /** Keeps the live trace. Default true: it costs less than a tenth of a microsecond per task. A dashboard needs it. */
  readonly record?: boolean;
  /** Serves the dashboard; `dashboardLink` says where. Default: the setting `dashboard`, which is false. */
  readonly dashboard?: boolean | DashboardOptions;
}

/** The server checks the values. */
export const DASHBOARD_OPTIONS: OptionKinds<DashboardOptions> = {
  host: ANY,
  port: ANY,
  token: ANY,
  names: ANY,
};

/** Kinds that settings have, too, are checked where the two meet. */
export const CLUSTER_OPTIONS: OptionKinds<LocalClusterOptions> = {
  workers: COUNT,
  processes: FLAG,
  memoryLimit: ANY,
  memory: ANY,
  localDirectory: TEXT,
  resources: RESOURCES,
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

/** What a cluster starts with; the program may change its settings while the cluster starts. */
export interface ClusterSettings {
  readonly workers: number;
  readonly threads: boolean;
  readonly allowedFailures: number;
  readonly settings: WorkerSettings;
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_CONFIG */
export function clusterSettings(options: LocalClusterOptions): ClusterSettings {
  if (typeof options.dashboard === 'object')
    checkOptions('LocalCluster: dashboard', options.dashboard, DASHBOARD_OPTIONS);
  checkOptions('LocalCluster: memory', options.memory, THRESHOLDS);
  const workers = checkCount('workers', options.workers ?? config.get('workers') ?? availableParallelism());
  const processes = options.processes ?? config.get('processes');
  const allowedFailures = checkCount('allowedFailures', options.allowedFailures ?? 3);
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
  return { workers, threads: !processes, allowedFailures, settings };
}

/** What a cluster serves, as its options and the settings have it when it starts. */
export interface Serving {
  readonly dashboard: DashboardOptions | undefined;
  /** Port of the dashboard that the settings ask for, not the program. */
  readonly configured: number | undefined;
  readonly signal: Settings['dump-signal'];
}

/** The settings count where the program says nothing. */
export function servingOf({ dashboard }: Pick<LocalClusterOptions, 'dashboard'>): Serving {
  return {
    dashboard: dashboard === true ? {} : dashboard || undefined,
    configured: dashboard === undefined && config.get('dashboard') ? config.get('dashboard-port') : undefined,
    signal: config.get('dump-signal'),
  };
}

function profileSettings(option: LocalClusterOptions['profile']): ProfileSettings | undefined {
  if (option === false || (option === undefined && !config.get('profile'))) return undefined;
  const where = 'LocalCluster: profile';
  checkOptions(where, option, PROFILE_OPTIONS);
  const { interval = config.get('profile-interval'), cycleInterval = config.get('profile-cycle-interval') } =
    option ?? {};
  return {
    interval: readSetting('profile-interval', interval, `${where}.interval`),
    cycleInterval: readSetting('profile-cycle-interval', cycleInterval, `${where}.cycleInterval`),
  };
}

function memoryLimit(option: number | string | undefined, workers: number): number {
  if (option === undefined) return Math.floor(Math.max(totalmem() * 0.9, freemem()) / workers);
  const bytes = typeof option === 'number' ? option : readBytes(option);
  if (bytes === undefined || !(bytes >= 0))
    throw invalid('memoryLimit', option, "bytes, or a text such as '2GB' or '500 MiB'");
  return bytes;
}

// Names, meanings and allowed values of the settings that a configuration file, the environment or a program may
// change. Durations and sizes may have units: `10ms`, `2 GB`.
import { isMisspelling, MAX_TIMER_SECONDS } from './arguments.js';
import { LongpoleError } from './errors.js';

/** Durations are in seconds, sizes in bytes. If a value is undefined, the program derives it from the machine. */
export interface Settings {
  /** Whether workers and the scheduler are profiled. Default true. */
  readonly profile: boolean;
  /** Time between two samples of the profiler, at least 0.0001. Default 0.01. */
  readonly 'profile-interval': number;
  /** Time after which the samples of a profile are passed on, at least 0.01. Default 1. */
  readonly 'profile-cycle-interval': number;
  /**
   * Scheduler of `compute()` if neither the call nor a connected client chooses one: `threads`, `processes`, `sync`,
   * or `cluster`, a local cluster that belongs to the program. Default: threads, or processes if `processes` is set.
   */
  readonly scheduler: SchedulerSetting | undefined;
  /**
   * The Dask cluster that `connect()` uses instead of a local one: the address of its scheduler, or `dask` for a new
   * one on this machine. Default: a local cluster.
   */
  readonly dask: string | undefined;
  /** Workers of a local cluster and of the local schedulers. Default one per core. */
  readonly workers: number | undefined;
  /** Whether workers are processes. Default false. */
  readonly processes: boolean;
  /** Memory of one worker. Default its share of the machine. */
  readonly 'memory-limit': number | undefined;
  /** Share of the limit beyond which results in memory are spilled; false: never. Default 0.6. */
  readonly 'memory-target': number | false;
  /** Share of the limit beyond which the memory of the process causes spilling; false: never. Default 0.7. */
  readonly 'memory-spill': number | false;
  /** Share of the limit beyond which no task is started; false: never. Default 0.8. */
  readonly 'memory-pause': number | false;
  /** Share of the limit beyond which a worker is terminated; false: never. Default 0.95. */
  readonly 'memory-terminate': number | false;
  /** Time without a message after which a worker process is replaced, at least 5; false: never. Default 300. */
  readonly 'worker-ttl': number | false;
  /** Signal on which a program prints the state of its clusters to standard error. Default none. */
  readonly 'dump-signal': DumpSignal | undefined;
  /** Folder for spilled results. Default the folder for temporary files. */
  readonly 'local-directory': string | undefined;
  /** Whether local clusters serve the dashboard. Default false. */
  readonly dashboard: boolean;
  /** Port of the dashboard. If it is taken, any free port. Default 8787. */
  readonly 'dashboard-port': number;
}

export type SettingName = keyof Settings;

export const SCHEDULERS = ['threads', 'processes', 'sync', 'cluster'] as const;
export type SchedulerSetting = (typeof SCHEDULERS)[number];

const DUMP_SIGNALS = ['SIGUSR2', 'SIGHUP', 'SIGBREAK', 'SIGQUIT'] as const;
type DumpSignal = (typeof DUMP_SIGNALS)[number];

interface Setting<T> {
  readonly default: T;
  /** Converts a value to what the program uses; undefined if it is not valid. Environment variables are strings. */
  readonly read: (value: unknown) => T | undefined;
  /** Description of the valid values, for error messages. */
  readonly expected: string;
}

const SETTINGS: { readonly [N in SettingName]: Setting<Settings[N]> } = {
  profile: flag(true),
  'profile-interval': duration(0.01, 1e-4),
  'profile-cycle-interval': duration(1, 0.01),
  scheduler: choice(SCHEDULERS),
  dask: { default: undefined, read: readText, expected: 'the address of a scheduler, or dask' },
  workers: { ...count(1, 1024), default: undefined },
  processes: flag(false),
  'memory-limit': {
    default: undefined,
    read: readMemoryLimit,
    expected: 'a size such as "2 GB", at least 1 MB (a number without a unit is in bytes), or 0 for no limit',
  },
  'memory-target': share(0.6),
  'memory-spill': share(0.7),
  'memory-pause': share(0.8),
  'memory-terminate': share(0.95),
  'worker-ttl': orNever(duration(300, 5)),
  'dump-signal': choice(DUMP_SIGNALS),
  'local-directory': { default: undefined, read: readText, expected: 'a path' },
  dashboard: flag(false),
  'dashboard-port': { ...count(0, 65535), default: 8787 },
};

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName);

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

export function defaultSetting<N extends SettingName>(name: N): Settings[N] {
  return SETTINGS[name].default;
}

/**
 * Converts a configured value to the value of a setting.
 *
 * @param where source of the value, e.g. `LONGPOLE_WORKERS` or `profile-interval in /app/longpole.config.yaml`
 * @throws LongpoleError ERR_LONGPOLE_CONFIG if the setting cannot have this value
 */
export function readSetting<N extends SettingName>(name: N, value: unknown, where: string): Settings[N] {
  const { read, expected } = SETTINGS[name];
  const setting = read(value);
  if (setting === undefined)
    throw new LongpoleError(
      'ERR_LONGPOLE_CONFIG',
      `${where}: expected ${expected}, not ${JSON.stringify(value) ?? String(value)}.`,
    );
  return setting;
}

/** Returns the error for an unknown setting. Suggests the nearest known name, if there is one. */
export function unknownSetting(name: string, where: string): LongpoleError {
  const near = SETTING_NAMES.find((known) => isMisspelling(name, known) || known.startsWith(`${name}-`));
  const advice =
    near === undefined ? `The settings are ${SETTING_NAMES.join(', ')}.` : `Did you mean '${near}'?`;
  return new LongpoleError('ERR_LONGPOLE_CONFIG', `${where}: there is no setting '${name}'. ${advice}`);
}

/** Returns seconds from a number or a text such as `10ms`, `1.5 s`, `2min`, `1h`; undefined for invalid values. */
export function readDuration(value: unknown): number | undefined {
  return readQuantity(value, { '': 1, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 });
}

/** No worker starts with less; such a limit lacks its unit. */
const LEAST_MEMORY = 1e6;

/** Returns the bytes of a worker's memory limit, 0 for no limit; undefined for values with which no worker can start. */
export function readMemoryLimit(value: unknown): number | undefined {
  const bytes = readBytes(value);
  if (bytes === undefined || bytes >= LEAST_MEMORY) return bytes;
  // A share such as 0.5, as in Dask, is less than a byte.
  return Number.parseFloat(String(value)) === 0 ? 0 : undefined;
}

/** Returns bytes from a number or a text such as `512 MiB`, `2GB`, `1e9`; undefined for invalid values. */
export function readBytes(value: unknown): number | undefined {
  const units: Record<string, number> = { '': 1, b: 1 };
  for (const [index, letter] of ['k', 'm', 'g', 't', 'p'].entries()) {
    units[letter] = units[`${letter}b`] = 1000 ** (index + 1);
    units[`${letter}i`] = units[`${letter}ib`] = 1024 ** (index + 1);
  }
  const bytes = readQuantity(value, units);
  return bytes === undefined ? undefined : Math.floor(bytes);
}

function readQuantity(value: unknown, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof value === 'number') return value >= 0 && Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const match = /^\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)\s*([a-zµ]*)\s*$/i.exec(value);
  const unit = match?.[2]?.toLowerCase() ?? '?';
  if (match === null || !Object.hasOwn(units, unit)) return undefined;
  const size = units[unit]!;
  // Divides instead of multiplying, so that 100 µs is the double nearest to 0.0001.
  return size < 1 ? Number(match[1]) / Math.round(1 / size) : Number(match[1]) * size;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function choice<T extends string>(names: readonly T[]): Setting<T | undefined> {
  const read = (given: unknown): T | undefined => names.find((name) => name === given);
  return { default: undefined, read, expected: `one of ${names.join(', ')}` };
}

function duration(value: number, minimum: number): Setting<number> {
  const read = (given: unknown): number | undefined => {
    const seconds = readDuration(given);
    return seconds !== undefined && seconds >= minimum && seconds <= MAX_TIMER_SECONDS ? seconds : undefined;
  };
  return {
    default: value,
    read,
    expected: `a duration such as "10ms" or a number of seconds, at least ${minimum} and at most ${MAX_TIMER_SECONDS}`,
  };
}

function count(minimum: number, maximum: number): Omit<Setting<number>, 'default'> {
  const read = (given: unknown): number | undefined => {
    const number = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
    if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
    return number >= minimum && number <= maximum ? number : undefined;
  };
  return { read, expected: `a whole number from ${minimum} to ${maximum}` };
}

function share(value: number): Setting<number | false> {
  const read = (given: unknown): number | undefined => {
    const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    return typeof number === 'number' && number > 0 && number <= 1 ? number : undefined;
  };
  return orNever({ default: value, read, expected: 'a number above 0 and up to 1' });
}

function orNever(setting: Setting<number>): Setting<number | false> {
  return {
    default: setting.default,
    read: (given) => (given === false || given === 'false' ? false : setting.read(given)),
    expected: `${setting.expected}, or false`,
  };
}

function flag(value: boolean): Setting<boolean> {
  const texts: Record<string, boolean> = {
    true: true,
    false: false,
    1: true,
    0: false,
    yes: true,
    no: false,
  };
  const read = (given: unknown): boolean | undefined => {
    if (typeof given === 'boolean') return given;
    const text = typeof given === 'string' ? given.toLowerCase() : '';
    return Object.hasOwn(texts, text) ? texts[text] : undefined;
  };
  return { default: value, read, expected: 'true or false' };
}

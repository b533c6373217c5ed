// `config`: the settings of a program. In ascending precedence: defaults, configuration file, environment,
// `config.set`. Options of a call take precedence over all of these.
import {
  ANY,
  checkNoMore,
  checkOptions,
  invalid,
  isOptionsObject,
  type OptionKinds,
  TEXT,
} from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';
import { once } from '../base/lookUps.js';
import { INSPECT, type Inspect, type InspectOptions } from '../base/printed.js';
import {
  defaultSetting,
  isSettingName,
  readSetting,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  unknownSetting,
} from '../base/settings.js';
import { type ConfigFile, readConfigFile } from '../files/configFile.js';

export interface ConfigOptions {
  /** Folder of the configuration file. Default: the working directory. */
  readonly directory?: string;
  /** Environment variables. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const OPTIONS: OptionKinds<ConfigOptions> = { directory: TEXT, environment: ANY };

/** The settings and their sources. Reads the file and the environment at the first call that needs a setting. */
export class Config {
  readonly #sources: () => { readonly file: ConfigFile | undefined; readonly environment: Partial<Settings> };
  #set: Partial<Settings>[] = [];

  constructor(options: ConfigOptions = {}) {
    checkOptions('Config', options, OPTIONS);
    this.#sources = once(() => {
      const { directory = process.cwd(), environment = process.env } = options;
      const file = readConfigFile(directory, environment['LONGPOLE_CONFIG']);
      return { file, environment: readEnvironment(environment) };
    });
  }

  /**
   * Returns the value of a setting, e.g. `config.get('profile-interval')`, from the first source that has it:
   * 1. `config.set`
   * 2. the environment, e.g. `LONGPOLE_PROFILE_INTERVAL`
   * 3. the file named by `LONGPOLE_CONFIG`, else `longpole.config.yaml`, `.yml` or `.json`
   * 4. the default
   *
   * @returns durations in seconds, sizes in bytes
   * @throws LongpoleError ERR_LONGPOLE_CONFIG if the setting does not exist, or the file or a variable is invalid
   */
  get<N extends SettingName>(name: N): Settings[N] {
    checkName(name);
    for (const settings of this.#layers())
      if (name in settings) return settings[name] ?? defaultSetting(name);
    return defaultSetting(name);
  }

  /**
   * Returns the source of a setting: `program`, `environment`, the path of the configuration file, or `default`.
   *
   * @throws LongpoleError as `get`
   */
  source(name: SettingName): string {
    checkName(name);
    if (this.#set.some((settings) => name in settings)) return 'program';
    const { file, environment } = this.#sources();
    if (name in environment) return 'environment';
    return file !== undefined && name in file.settings ? file.path : 'default';
  }

  /** Returns all settings with their values. */
  all(): ReadonlyMap<SettingName, Settings[SettingName]> {
    return new Map(SETTING_NAMES.map((name) => [name, this.get(name)]));
  }

  /**
   * Changes settings for the rest of the program, or, with `using`, until the block ends. Running clusters keep their
   * settings.
   *
   *     using _ = config.set({ 'profile-interval': '1ms' });
   *
   * @returns an object that reverts the change when it is disposed of
   * @throws LongpoleError ERR_LONGPOLE_CONFIG if a setting does not exist or a value is invalid; then no setting
   *   changes
   * @source Dask, `dask.config.set`
   */
  set(settings: Readonly<Record<string, unknown>>): Disposable;
  set(settings: unknown, ...more: readonly unknown[]): Disposable {
    if (!isOptionsObject(settings))
      throw invalid('config.set: settings', settings, "an object such as { 'workers': 4 }");
    checkNoMore('config.set', more, 'Pass all settings in one object.');
    const checked: Partial<Settings> = {};
    for (const [name, value] of Object.entries(settings)) {
      checkName(name);
      Object.assign(checked, { [name]: readSetting(name, value, `config.set: ${name}`) });
    }
    this.#set = [checked, ...this.#set];
    return {
      [Symbol.dispose]: () => {
        this.#set = this.#set.filter((each) => each !== checked);
      },
    };
  }

  [INSPECT](_depth: unknown, options: InspectOptions, inspect: Inspect): string {
    return `Config ${inspect(this.all(), options)}`;
  }

  *#layers(): Iterable<Partial<Settings>> {
    yield* this.#set;
    const { file, environment } = this.#sources();
    yield environment;
    if (file !== undefined) yield file.settings;
  }
}

function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Partial<Settings> {
  const settings: Partial<Settings> = {};
  for (const name of SETTING_NAMES) {
    const variable = `LONGPOLE_${name.toUpperCase().replaceAll('-', '_')}`;
    const value = environment[variable];
    // Users unset a variable for one command with `NAME= command`.
    if (value === undefined || value === '') continue;
    Object.assign(settings, { [name]: readSetting(name, value, `The environment variable ${variable}`) });
  }
  return settings;
}

function checkName(name: unknown): asserts name is SettingName {
  if (typeof name !== 'string')
    throw new LongpoleError(
      'ERR_LONGPOLE_CONFIG',
      `config: the name of a setting is a string, not ${typeof name}.`,
    );
  if (!isSettingName(name)) throw unknownSetting(name, 'config');
}

/** Settings of this program. */
export const config: Config = new Config();

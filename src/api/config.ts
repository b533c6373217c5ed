// `config`: the settings of a program. Defaults, then the configuration file, then the environment, then what the
// program sets; options of a call come after all of them.
import { ANY, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';
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
  /** Where the configuration file is looked for. Default: the working directory. */
  readonly directory?: string;
  /** Default: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const OPTIONS: OptionKinds<ConfigOptions> = { directory: TEXT, environment: ANY };

/** The settings and where they come from. Nothing is read before the first question. */
export class Config {
  readonly #options: ConfigOptions;
  #read: { readonly file: ConfigFile | undefined; readonly environment: Partial<Settings> } | undefined;
  #set: Partial<Settings>[] = [];

  constructor(options: ConfigOptions = {}) {
    checkOptions('Config', options, OPTIONS);
    this.#options = options;
  }

  /**
   * The value of a setting, e.g. `config.get('profile-interval')`: what the program has set, else the environment
   * (`LONGPOLE_PROFILE_INTERVAL`), else `longpole.config.yaml` or `.json` (or the file that `LONGPOLE_CONFIG` names), else the default.
   * Durations in seconds, sizes in bytes.
   *
   * @throws LongpoleError ERR_LONGPOLE_CONFIG if the setting does not exist, or the file or the environment is wrong
   */
  get<N extends SettingName>(name: N): Settings[N] {
    checkName(name);
    for (const settings of this.#layers())
      if (name in settings) return settings[name] ?? defaultSetting(name);
    return defaultSetting(name);
  }

  /** Where a setting's value comes from: `program`, `environment`, the path of a file, or `default`. */
  source(name: SettingName): string {
    checkName(name);
    if (this.#set.some((settings) => name in settings)) return 'program';
    const { file, environment } = this.#load();
    if (name in environment) return 'environment';
    return file !== undefined && name in file.settings ? file.path : 'default';
  }

  /** All settings with their values. */
  all(): ReadonlyMap<SettingName, Settings[SettingName]> {
    return new Map(SETTING_NAMES.map((name) => [name, this.get(name)]));
  }

  /**
   * Changes settings for the rest of the program, or, with `using`, until the block ends. Clusters that have started keep
   * what they started with.
   *
   *     using _ = config.set({ 'profile-interval': '1ms' });
   *
   * @throws LongpoleError ERR_LONGPOLE_CONFIG if a setting does not exist or cannot have its value; nothing is changed then
   */
  set(settings: Readonly<Record<string, unknown>>): Disposable {
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

  *#layers(): Iterable<Partial<Settings>> {
    yield* this.#set;
    const { file, environment } = this.#load();
    yield environment;
    if (file !== undefined) yield file.settings;
  }

  #load(): { readonly file: ConfigFile | undefined; readonly environment: Partial<Settings> } {
    if (this.#read === undefined) {
      const { directory = process.cwd(), environment = process.env } = this.#options;
      this.#read = {
        file: readConfigFile(directory, environment['LONGPOLE_CONFIG']),
        environment: readEnvironment(environment),
      };
    }
    return this.#read;
  }
}

function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Partial<Settings> {
  const settings: Partial<Settings> = {};
  for (const name of SETTING_NAMES) {
    const variable = `LONGPOLE_${name.toUpperCase().replaceAll('-', '_')}`;
    const value = environment[variable];
    // An empty variable is one that somebody has switched off.
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

/** The settings of this program. */
export const config: Config = new Config();

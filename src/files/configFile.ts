// Reads the configuration file of a program: `longpole.config.yaml` or `.json` in the folder where the program was
// started.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isError, LongpoleError, messageOf, sentenceOf } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { isSettingName, readSetting, type Settings, unknownSetting } from '../base/settings.js';

const NAMES = ['longpole.config.yaml', 'longpole.config.yml', 'longpole.config.json'];

export interface ConfigFile {
  readonly path: string;
  readonly settings: Partial<Settings>;
}

/**
 * Returns the settings of the folder's configuration file, or of the given file; undefined if the folder has none. A
 * setting is a single name, `profile-interval: 10ms`, or nested, `profile: { interval: 10ms }`.
 *
 * @throws LongpoleError ERR_LONGPOLE_CONFIG if a given file cannot be read, if the folder has two, if the file is no
 * YAML or JSON, or if a setting does not exist or cannot have its value
 */
export function readConfigFile(directory: string, given?: string): ConfigFile | undefined {
  if (given !== undefined) return read(given, readText(given, true) ?? '');
  const found = NAMES.flatMap((name) => {
    const path = join(directory, name);
    const text = readText(path, false);
    return text === undefined ? [] : [{ path, text }];
  });
  const [first, second] = found;
  if (first === undefined) return undefined;
  if (second !== undefined)
    throw failure(`There are two configuration files, ${first.path} and ${second.path}. Remove one.`);
  return read(first.path, first.text);
}

function readText(path: string, mustExist: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const missing = isError(cause) && 'code' in cause && cause.code === 'ENOENT';
    if (missing && !mustExist) return undefined;
    throw failure(
      `The configuration file ${path} cannot be read: ${sentenceOf(cause)} Make it readable, or name another file in LONGPOLE_CONFIG.`,
      cause,
    );
  }
}

function read(path: string, text: string): ConfigFile {
  const { parse } = loadPackage('yaml');
  let content: unknown;
  try {
    // YAML includes JSON.
    content = parse(text, { logLevel: 'error' });
  } catch (cause) {
    throw failure(`The configuration file ${path} is not valid YAML. Correct it: ${messageOf(cause)}`, cause);
  }
  const settings: Partial<Settings> = {};
  if (content === null || content === undefined) return { path, settings };
  if (!isMap(content)) throw failure(`The configuration file ${path} must be a map from settings to values.`);
  for (const [name, value] of flatten(content, '')) {
    if (!isSettingName(name)) throw unknownSetting(name, path);
    Object.assign(settings, { [name]: readSetting(name, value, `${name} in ${path}`) });
  }
  return { path, settings };
}

/** Yields `{ profile: { interval } }` as `profile-interval`. */
function* flatten(map: object, prefix: string): Iterable<[string, unknown]> {
  for (const [name, value] of Object.entries(map)) {
    if (isMap(value)) yield* flatten(value, `${prefix}${name}-`);
    else yield [prefix + name, value];
  }
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failure(message: string, cause?: unknown): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_CONFIG', message, { cause });
}

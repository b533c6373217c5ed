// Settings from `longpole run` for the module that is loaded into the program. They are passed in an environment
// variable. The module removes the variable, so that the program and its children do not have it.

import { fieldOf, parsedJson } from '../../base/json.js';

export const VARIABLE = 'LONGPOLE_RUN';

export interface RunSettings {
  /** Directory of the trace, which exists. */
  readonly directory: string;
}

/** Reads the variable. Returns undefined if it is not from `longpole run`. */
export function readRunSettings(text: string): RunSettings | undefined {
  const directory = fieldOf(parsedJson(text), 'directory');
  return typeof directory === 'string' ? { directory } : undefined;
}

// Settings from `longpole run` for the module that is loaded into the program. They are passed in an environment
// variable. The module removes the variable, so that the program and its children do not have it.

export const VARIABLE = 'LONGPOLE_RUN';

export interface RunSettings {
  /** Directory of the trace, which exists. */
  readonly directory: string;
}

/** Reads the variable. Returns undefined if it is not from `longpole run`. */
export function readRunSettings(text: string): RunSettings | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('directory' in value)) return undefined;
  return typeof value.directory === 'string' ? { directory: value.directory } : undefined;
}

// What `longpole run` tells the part of it that is loaded into the program: by an environment variable, which that part takes
// away again, so that neither the program nor its own children see it.

export const VARIABLE = 'LONGPOLE_RUN';

export interface RunSettings {
  /** Of the trace; `longpole run` has made it. */
  readonly directory: string;
}

/** Undefined where the variable is not from `longpole run`. */
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

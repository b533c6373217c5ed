// Names of clients that the trace has for computations: of local schedulers, and of the client inside a task.

/** Name of the client of computations of local schedulers. */
export const LOCAL_CLIENT = 'local';

const BEFORE = "task '";
const AFTER = "'";

export function taskClientName(key: string): string {
  return `${BEFORE}${key}${AFTER}`;
}

/** Returns the key of the task; undefined for the name of another client. */
export function taskOfClient(name: string): string | undefined {
  if (!name.startsWith(BEFORE) || !name.endsWith(AFTER)) return undefined;
  return name.slice(BEFORE.length, -AFTER.length);
}

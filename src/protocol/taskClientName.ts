// The name of the client inside a task, which the trace has for each computation that the task submits.

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

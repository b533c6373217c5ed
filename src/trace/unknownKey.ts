// Names for tasks that are known by their id alone.

/** Stands for the key of a task that the trace knows nothing of. */
export function unknownKey(id: number): string {
  return `(task ${id})`;
}

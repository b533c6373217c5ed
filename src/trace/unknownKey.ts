/** Returns a placeholder for the key of a task of which only the id is known. */
export function unknownKey(id: number): string {
  return `(task ${id})`;
}

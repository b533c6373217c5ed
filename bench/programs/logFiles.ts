import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the paths of the log files in a folder of makeLogs.js, and of the file of their users. */
export function logFiles(folder: string): { readonly logs: readonly string[]; readonly users: string } {
  const names = readdirSync(folder).filter((name) => name.endsWith('.log'));
  return { logs: names.sort().map((name) => join(folder, name)), users: join(folder, 'users.csv') };
}

// Creates folders with their parents. Node 20's recursive mkdirSync never returns if the system reports an existing
// folder as missing, as in /proc.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Creates the folder and its missing parents. Throws the system's error if it cannot, or if a file has the name. */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isFolder(path)) return;
    if (existsSync(dirname(path))) throw error;
    makeFolders(dirname(path), mode);
    makeFolders(path, mode);
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

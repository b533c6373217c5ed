// Folders with those that they lie in. Node 20's own recursive mkdirSync never returns where the system says that a folder
// is missing which is there, as it does in /proc.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes the folder and those around it that are missing. Throws the system's error if it cannot, or if a file is there. */
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

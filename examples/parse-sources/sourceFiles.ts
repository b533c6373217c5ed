import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the sorted relative paths of all .js, .mjs and .cjs files below a folder. Links are not followed. */
export function findSourceFiles(folder: string): string[] {
  const found: string[] = [];
  const open = [''];
  for (let inside = open.pop(); inside !== undefined; inside = open.pop()) {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile() && /\.[cm]?js$/.test(entry.name)) found.push(path);
    }
  }
  return found.sort();
}

/** Returns the node_modules folder that contains the dependencies of this program. */
export function ownNodeModules(): string {
  const path = fileURLToPath(import.meta.resolve('acorn'));
  const name = `${sep}node_modules${sep}`;
  return path.slice(0, path.lastIndexOf(name) + name.length - 1);
}

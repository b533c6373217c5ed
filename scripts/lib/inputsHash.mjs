// Names the state of files by a hash of their paths and contents. Times of files do not show a restored older file.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the hash of files, and of all files in folders, below `root`, without tests. */
export function hashOf(root, paths) {
  const hash = createHash('sha256');
  const files = paths.flatMap((one) => filesIn(root, one)).filter((file) => !file.includes('.test.'));
  for (const path of files.sort()) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function filesIn(root, path) {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isFile())
    .flatMap(({ name }) => filesIn(root, `${path}/${name}`));
}

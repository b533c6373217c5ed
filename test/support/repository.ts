import { fileURLToPath } from 'node:url';

/** Returns the absolute path of a file in the repository. Tests run from dist-test/test/. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

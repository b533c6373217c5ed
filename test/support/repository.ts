import { fileURLToPath } from 'node:url';

/** Absolute path of something in the repository. Tests run from dist-test/test/. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

// Longpole's own code for workers on other machines. scripts/bundle.mjs makes these files with the package, so that no
// program has to wait for a bundler. On a worker they have the places of an installation: `dist/bundle/` and packages.
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export interface WorkerFile {
  /** Path in the folder of the program on the worker. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const FILES = fileURLToPath(new URL('../worker/', import.meta.url));
const OWN = 'longpole';
const BUNDLE = `${OWN}/dist/bundle`;

export const WORKER_ENTRY = `${BUNDLE}/workerProcessMain.start.cjs`;

/** Returns the file on a worker for an entry point of this package, e.g. `longpole/local`. */
export function ownEntry(specifier: string): string {
  const [, name = 'index'] = specifier.split('/');
  return `${BUNDLE}/${name}.js`;
}

/** Returns Longpole's code for the process and the isolates of a worker. */
export async function workerFiles(): Promise<readonly WorkerFile[]> {
  const manifest = { name: `${OWN}/package.json`, bytes: Buffer.from('{ "type": "module" }') };
  const [bundle, packages] = await Promise.all([
    filesOf('bundle', BUNDLE),
    filesOf('packages', `${OWN}/node_modules`),
  ]);
  return [manifest, ...bundle, ...packages];
}

async function filesOf(folder: string, place: string): Promise<WorkerFile[]> {
  const names = await readdir(`${FILES}${folder}`);
  return Promise.all(
    names.map(async (name) => ({
      name: `${place}/${name}`,
      bytes: await readFile(`${FILES}${folder}/${name}`),
    })),
  );
}

// The modules that `import 'longpole'` loads. Every isolate loads them before its first task of a module.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from './support/repository.js';
import { runOrThrow } from './support/runCommand.js';

/** A loader hook that prints the address of every loaded module. */
const HOOKS = `
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(1, url + '\\n');
    return next(url, context);
  }`;
const PROGRAM = `
  import { createRequire, register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}));
  await import(process.argv[2]);
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) console.log(path);`;

/** Returns the URLs of ECMAScript modules and the paths of CommonJS modules that an entry point of the package loads. */
async function loadedBy(entry: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-imports-'));
  try {
    const program = join(folder, 'program.mjs');
    writeFileSync(program, PROGRAM);
    const url = pathToFileURL(repositoryPath(entry)).href;
    const output = await runOrThrow(process.execPath, [program, url]);
    return output.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the names of the packages among loaded modules. */
function packagesOf(loaded: readonly string[]): string[] {
  const names = loaded.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}

describe("import 'longpole'", () => {
  it('loads no other package', async () => {
    const loaded = await loadedBy('dist/bundle/index.js');
    assert.ok(loaded.some((path) => path.endsWith('/dist/bundle/index.js')));
    assert.deepEqual(packagesOf(loaded), []);
    const outside = loaded.filter((path) => path.startsWith('file:') && !path.includes('/dist/bundle/'));
    assert.deepEqual(outside, []);
  });

  it('loads the modules that define tasks, and none of clusters, servers, pools and traces', async () => {
    const loaded = (await loadedBy('dist/api/index.js')).join('\n');
    assert.match(loaded, /\/dist\/graph\/tasks\.js$/m);
    for (const part of [
      'server/',
      'trace/live/',
      'trace/recording/',
      'engine/store/',
      'engine/transfer/',
      'engine/pool/',
      'engine/cluster/clusterEngine',
      'resources/resourceMonitor',
    ])
      assert.ok(!loaded.includes(`/dist/${part}`), part);
  });
});

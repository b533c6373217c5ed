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

describe("import 'longpole/analysis'", () => {
  it('loads neither the engine nor clients', async () => {
    const loaded = (await loadedBy('dist/api/analysis.js')).join('\n');
    assert.match(loaded, /\/dist\/analysis\/traceAnalyser\.js$/m);
    for (const part of ['api/cluster/client.js', 'engine/cluster/', 'engine/scheduler/', 'graph/compile.js'])
      assert.ok(!loaded.includes(`/dist/${part}`), part);
  });
});

/** A module for `--import` that prints `tsx` in each isolate that loads the compiler. */
const WATCH = `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  let isLoaded = false;
  registerHooks({
    load(url, context, next) {
      if (url.includes('/node_modules/tsx/') && !isLoaded) {
        isLoaded = true;
        writeSync(1, 'tsx ');
      }
      return next(url, context);
    },
  });`;
const LIBRARY = JSON.stringify(pathToFileURL(repositoryPath('dist/bundle/index.js')).href);
const SKIPPED =
  'typescript' in process.features && process.features.typescript
    ? false
    : `Node ${process.version} does not run TypeScript itself`;

/** Runs a program in TypeScript with Node alone. Returns what it and its workers print. */
async function printedBy(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-typescript-'));
  try {
    for (const [name, text] of Object.entries({
      ...files,
      'watch.mjs': WATCH,
      'package.json': '{ "type": "module" }',
    }))
      writeFileSync(join(folder, name), text);
    const watch = pathToFileURL(join(folder, 'watch.mjs')).href;
    return await runOrThrow(process.execPath, ['--import', watch, join(folder, 'main.ts')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a program in TypeScript that Node runs itself', { skip: SKIPPED }, () => {
  it('has workers without a compiler', async () => {
    const printed = await printedBy({
      'main.ts': `
        import { inc } from './work.ts';
        for (const scheduler of ['threads', 'processes'] as const)
          console.log(await inc(1).compute({ scheduler, numWorkers: 1 }));`,
      'work.ts': `
        import { tasks } from ${LIBRARY};
        export const { inc } = tasks(import.meta.url, { inc: (x: number): number => x + 1 });`,
    });
    assert.equal(printed, '2\n2\n');
  });

  it('has workers that compile a plugin which Node cannot run', async () => {
    const printed = await printedBy({
      'main.ts': `
        import { connect } from ${LIBRARY};
        const client = await connect({ workers: 1 });
        await client.registerPlugin({ url: new URL('./plugin.ts', import.meta.url).href, export: 'Plugin' });
        console.log(await client.submit(() => (globalThis as { size?: number }).size).result());
        await client.close();`,
      'plugin.ts': `
        enum Size { Large = 7 }
        export class Plugin {
          setup(): void {
            (globalThis as { size?: number }).size = Size.Large;
          }
        }`,
    });
    assert.equal(printed, 'tsx 7\n');
  });
});

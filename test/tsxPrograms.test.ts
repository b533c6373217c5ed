// Programs that run under tsx: their isolates load the modules that the program has compiled.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from './support/repository.js';
import { runOrThrow } from './support/runCommand.js';

const LIBRARY = pathToFileURL(repositoryPath('dist/bundle/')).href;
/** Whether this isolate has loaded esbuild, which tsx does. */
const HAS_COMPILER = `Object.keys(Reflect.get(process.getBuiltinModule('node:module'), '_cache'))
  .some((path) => path.includes('/esbuild/'))`;
const MAIN = `
  import { connect } from '${LIBRARY}index.js';
  import { getThreaded } from '${LIBRARY}local.js';
  import * as all from './work.js';
  const { work } = all;
  await using client = await connect({ workers: 1 });
  for (const run of [
    (task, ...args) => getThreaded({ one: [task, ...args] }, 'one', { numWorkers: 1 }),
    (task, ...args) => client.submit(task, ...args).result(),
  ])
    await main(run);`;

/** Runs \`main.ts\` under tsx. Returns the lines that the program prints. */
async function printedBy(files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-tsx-'));
  try {
    for (const [name, text] of Object.entries({ ...files, 'package.json': '{ "type": "module" }' })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    symlinkSync(repositoryPath('node_modules'), join(folder, 'node_modules'));
    const tsx = repositoryPath('node_modules/tsx/dist/cli.mjs');
    const printed = await runOrThrow(process.execPath, [tsx, join(folder, 'main.ts')]);
    return printed.replaceAll(pathToFileURL(folder).href, '').replaceAll(folder, '').trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('a program under tsx', () => {
  it('has isolates without a compiler, which load the modules of the program', async () => {
    const printed = await printedBy({
      'main.ts': `${MAIN}
        async function main(run): Promise<void> {
          console.log(JSON.stringify(await run(work.seen)));
          console.log(await run(all.more.same));
          const { cause } = await run(work.fail).catch((error: Error) => error);
          console.log(/\\((.*)\\)/.exec(cause.stack)?.[1]);
        }`,
      'work.ts': `
        import { tasks } from '${LIBRARY}index.js';
        import client from 'prom-client';
        import data from './lib/data.json';
        import { Shape } from './lib/shape.js';
        import { make } from './lib/make';
        export { more } from './more.js';
        enum Size { Large = 7 }
        interface Unused { x: number }

        export const work = tasks(import.meta.url, {
          seen: async () => ({
            shape: Reflect.set(globalThis, 'Shape', Shape),
            compiler: ${HAS_COMPILER},
            url: import.meta.url,
            folder: import.meta.dirname,
            values: [Size.Large, data.value, typeof client.Registry],
            same: make() instanceof Shape,
            lazy: (await import('./lib/lazy.js')).lazy(new Shape()),
            children: process.execArgv.some((option) => /\\btsx\\b/.test(option)),
          }),
          fail: (): never => failing(),
        });
        function failing(): never {
          throw new Error('failed');
        }`,
      'more.ts': `
        import { tasks } from '${LIBRARY}index.js';
        import { Shape } from './lib/shape.ts';
        export const more = tasks(import.meta.url, { same: () => Reflect.get(globalThis, 'Shape') === Shape });`,
      'lib/shape.ts': 'export class Shape { readonly sides: number = 4; }',
      'lib/make.ts': "import { Shape } from './shape.ts'; export const make = (): Shape => new Shape();",
      'lib/lazy.ts':
        "import { Shape } from './shape'; export const lazy = (x: unknown): boolean => x instanceof Shape;",
      'lib/data.json': '{ "value": 5 }',
    });
    const seen = {
      shape: true,
      compiler: false,
      url: '/work.ts',
      folder: '',
      values: [7, 5, 'function'],
      same: true,
      lazy: true,
      children: true,
    };
    const once = [JSON.stringify(seen), 'true', '/work.ts:26:17'];
    assert.deepEqual(printed, [...once, ...once]);
  });

  it('has isolates that load a module without others, with the lines of the program', async () => {
    const printed = await printedBy({
      'main.ts': `${MAIN}
        async function main(run): Promise<void> {
          console.log(JSON.stringify(await run(work.seen)));
          const { cause } = await run(work.fail).catch((error: Error) => error);
          console.log(/\\((.*)\\)/.exec(cause.stack)?.[1]);
        }`,
      'work.ts': `
        import { tasks } from '${LIBRARY}index.js';
        import client from 'prom-client';
        enum Size { Large = 7 }
        interface Unused { x: number }

        export const work = tasks(import.meta.url, {
          seen: () => ({ compiler: ${HAS_COMPILER}, url: import.meta.url, values: [Size.Large, typeof client.Registry, late] }),
          fail: (): never => failing(),
        });
        function failing(): never {
          throw new Error('failed');
        }
        const late: string = await Promise.resolve('late');`,
    });
    const seen = { compiler: false, url: '/work.ts', values: [7, 'function', 'late'] };
    const once = [JSON.stringify(seen), '/work.ts:13:17'];
    assert.deepEqual(printed, [...once, ...once]);
  });

  it('has isolates with a compiler for modules that need it', async () => {
    const printed = await printedBy({
      'main.ts': `${MAIN}
        async function main(run): Promise<void> {
          console.log(await run(work.computed, './lazy'), await run(work.common));
        }`,
      'work.ts': `
        import { tasks } from '${LIBRARY}index.js';
        import { old } from './old.cjs';
        export const work = tasks(import.meta.url, {
          computed: async (name: string) => (await import(name)).lazy(1),
          common: () => old,
        });`,
      'lazy.ts': 'export const lazy = (x: number): number => x + 1;',
      'old.cts': "const old: string = 'old'; module.exports = { old };",
    });
    assert.deepEqual(printed, ['2 old', '2 old']);
  });

  it('has isolates with a compiler for names of modules with letters outside ASCII', async () => {
    const printed = await printedBy({
      'main.ts': `${MAIN}
        async function main(run): Promise<void> {
          console.log(await run(work.large));
        }`,
      'work.ts': `
        import { tasks } from '${LIBRARY}index.js';
        import { Size } from './größe.js';
        export const work = tasks(import.meta.url, { large: () => Size.Large });`,
      'größe.ts': 'export enum Size { Large = 7 }',
    });
    assert.deepEqual(printed, ['7', '7']);
  });

  it('has isolates in which functions without a module import TypeScript', async () => {
    const printed = await printedBy({
      'main.ts': `
        import { getThreaded } from '${LIBRARY}local.js';
        const imported = async (url: string): Promise<string> => (await import(url)).text;
        const url = new URL('./text.js', import.meta.url).href;
        console.log(await getThreaded({ text: [imported, url] }, 'text', { numWorkers: 1 }));`,
      'text.ts': "enum Size { Large = 'large' } export const text: string = Size.Large;",
    });
    assert.deepEqual(printed, ['large']);
  });
});

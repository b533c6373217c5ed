// The modules that isolates import for their tasks.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { packageUrl, runProgram, withFolder } from './support/programs.js';

const LONGPOLE = packageUrl('index');
/** Computes the task `one` of the module tasks.mjs on both kinds of isolates. */
const PROGRAM = `
  import { getMultiprocessing, getThreaded, terminateSharedPools } from '${packageUrl('local')}';
  import { one } from './tasks.mjs';
  for (const get of [getThreaded, getMultiprocessing])
    console.log(await get({ one: [one] }, 'one', { numWorkers: 1 }).catch(({ cause }) => cause.message));
  await terminateSharedPools();`;

/** Writes the files, runs the program, and returns its output. */
function outputWith(files: Readonly<Record<string, string>>, ...nodeArguments: string[]): Promise<string> {
  return withFolder(async (folder) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const options = nodeArguments.map((each) => each.replace('FOLDER', pathToFileURL(folder).href));
    const { stdout, stderr } = await runProgram(folder, PROGRAM, { nodeArguments: options });
    assert.equal(stderr, '');
    return stdout;
  });
}

const tasksWith = (imports: string, body: string): string =>
  `import { tasks } from '${LONGPOLE}';\n${imports}\nexport const { one } = tasks(import.meta.url, { one: ${body} });`;

test('a task module has the modules that it imports in the program', async () => {
  const files = {
    'tasks.mjs': tasksWith("import both from 'both'; import old from './old.cjs';", '() => both + old.name'),
    'old.cjs': "exports.name = ' and CommonJS';",
    'node_modules/both/package.json': JSON.stringify({
      name: 'both',
      exports: { import: './both.mjs', require: './both.cjs' },
    }),
    'node_modules/both/both.mjs': "export default 'imported';",
    'node_modules/both/both.cjs': "module.exports = 'required';",
  };
  assert.equal(await outputWith(files), 'imported and CommonJS\n'.repeat(2));
});

test('a task module may await at its top level, and runs once', async () => {
  const count = 'globalThis.runs = (globalThis.runs ?? 0) + 1;';
  const sync = tasksWith(count, '() => globalThis.runs');
  assert.equal(await outputWith({ 'tasks.mjs': sync }), '1\n1\n');
  const awaiting = `${sync}\nawait new Promise((resolve) => setTimeout(resolve, 1));`;
  assert.equal(await outputWith({ 'tasks.mjs': awaiting }), '1\n1\n');
});

test('a task fails with the error of its module, which runs once', async () => {
  const count = `
    import { isMainThread } from 'node:worker_threads';
    globalThis.runs = (globalThis.runs ?? 0) + 1;
    if (!isMainThread || process.send !== undefined) throw new Error('run ' + globalThis.runs);`;
  const [thread = '', child = ''] = (await outputWith({ 'tasks.mjs': tasksWith(count, '() => 1') })).split(
    '\n',
  );
  for (const line of [thread, child]) assert.match(line, /^The worker could not load .*\brun 1\b/);
});

for (const [place, manifest] of [
  ['in a package of type module', { type: 'module' }],
  ['in a package of type commonjs', { type: 'commonjs' }],
  ['in a package without a type', {}],
  ['without a package', undefined],
] as const) {
  test(`a task module in TypeScript is imported if only the program's own loader knows it, ${place}`, async () => {
    const files = {
      ...(manifest && { 'package.json': JSON.stringify(manifest) }),
      // Vitest compiles the module for the program, under its URL.
      'tasks.mjs': `
        import { tasks } from '${LONGPOLE}';
        export const { one } = tasks(new URL('typed.ts', import.meta.url).href, { one: () => 0 });`,
      'typed.ts': tasksWith("import { part } from './part';", '(): Promise<string> => part()'),
      'part.ts': "export const part = async (): Promise<string> => (await import('./folder')).name;",
      'folder/index.ts': "export const name: string = 'typed';",
    };
    // Node warns of packages without a type.
    assert.equal(await outputWith(files, '--no-warnings'), 'typed\n'.repeat(2));
  });
}

test('hooks that an option of Node registers change a task module', async () => {
  const hooks = `export async function load(url, context, next) {
    const loaded = await next(url, context);
    return url.endsWith('tasks.mjs') ? { ...loaded, source: String(loaded.source).replace('plain', 'hooked') } : loaded;
  }`;
  const files = {
    'tasks.mjs': tasksWith('', "() => 'plain'"),
    'hooks.mjs': hooks,
    'register.mjs': "import { register } from 'node:module';\nregister('./hooks.mjs', import.meta.url);",
  };
  assert.equal(
    await outputWith(files, '--no-deprecation', '--import=FOLDER/register.mjs'),
    'hooked\n'.repeat(2),
  );
});

test('a task has all names of the package, and the classes of its module', async () => {
  const names = Object.keys(await import(LONGPOLE)).sort();
  const body = `async () => {
    const again = await import('${LONGPOLE}');
    return again.Delayed === Delayed && one() instanceof again.Delayed && Object.keys(again).sort().join();
  }`;
  const files = { 'tasks.mjs': tasksWith(`import { Delayed } from '${LONGPOLE}';`, body) };
  assert.equal(await outputWith(files), `${names.join()}\n`.repeat(2));
});

test('an isolate loads what computes graphs when a task computes one', async () => {
  const body = `async () => {
    const table = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description.startsWith('longpole '));
    const late = () => [...globalThis[table].keys()].filter((file) => file.includes('-late-')).length;
    const before = late();
    const { compute, delayed } = await import('${LONGPOLE}');
    const [two] = await compute(delayed(() => 2)(), { scheduler: 'sync' });
    return [before, two, late() > 0].join();
  }`;
  assert.equal(await outputWith({ 'tasks.mjs': tasksWith('', body) }), '0,2,true\n'.repeat(2));
});

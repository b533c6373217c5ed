// The package as users get it: packed, installed by npm into an empty folder, and used there.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'acorn';
import { LocalRegistry } from './support/localRegistry.js';
import { repositoryPath } from './support/repository.js';
import { runCommand, runOrThrow } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-package-'));
const project = join(folder, 'project');
const installed = join(project, 'node_modules/longpole');

/** Returns the environment without variables of an outer npm and without the configuration of the user. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^npm_|_proxy$/i.test(name)) env[name] = value;
  }
  writeFileSync(join(folder, 'npmrc'), 'update-notifier=false\nfund=false\naudit=false\n');
  return { ...env, npm_config_userconfig: join(folder, 'npmrc'), npm_config_cache: join(folder, 'cache') };
}

async function packAndInstall(): Promise<void> {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const registry = await LocalRegistry.start(repositoryPath('node_modules'));
  try {
    // With `--install-links`, npm packs the folder as `npm pack` does, and installs that. A program in TypeScript must install
    // the types of Node.
    const args = ['--install-links', '--registry', registry.url, repositoryPath('.'), '@types/node'];
    await runOrThrow('npm', ['install', ...args], { cwd: project, env: npmEnvironment() });
  } finally {
    await registry.close();
  }
}

/** Returns the relative paths of all files in the installed package. */
function packedFiles(): string[] {
  return readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(installed, path)).isFile(),
  );
}

/** Runs a program in the project. */
function node(source: string, name = 'program.mjs'): Promise<string> {
  writeFileSync(join(project, name), source);
  return runOrThrow(process.execPath, [name], { cwd: project });
}

/** Returns the sources of all imports, re-exports and literal import() calls of a module. */
function importsOf(text: string): string[] {
  const { body } = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  // Only import() is not a statement of the module.
  const nodes: unknown[] = text.includes('import(') ? [body] : body.filter((node) => 'source' in node);
  const found: string[] = [];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if ('source' in node) found.push(...literalsOf(node.source));
    for (const part of Object.values(node)) if (typeof part === 'object' && part !== null) nodes.push(part);
  }
  return found;
}

function literalsOf(source: unknown): string[] {
  const isLiteral = typeof source === 'object' && source !== null && 'value' in source;
  return isLiteral && typeof source.value === 'string' ? [source.value] : [];
}

describe('the packed package', () => {
  before(packAndInstall);
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('contains no tests, build info or source maps', () => {
    const unwanted = packedFiles().filter((path) =>
      /\.test\.|\.tsbuildinfo$|\.map$|^(src|test|bench|scripts)\//.test(path),
    );
    assert.deepEqual(unwanted, []);
  });

  it('contains the licence, the documentation and the examples', () => {
    const files = packedFiles();
    for (const path of ['LICENSE', 'README.md', 'CHANGELOG.md', 'docs/errors.md', 'examples/tsqr/main.ts']) {
      assert.ok(files.includes(path), path);
    }
  });

  it('imports only packages that it declares', () => {
    const manifest: { dependencies: Record<string, string> } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    const known = new Set([...Object.keys(manifest.dependencies), 'longpole']);
    const unknown = packedFiles()
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) =>
        importsOf(readFileSync(join(installed, path), 'utf8')).map((name) => ({ path, name })),
      )
      .filter(({ name }) => !isBuiltin(name) && !/^(\.|data:)/.test(name))
      .filter(
        ({ name }) =>
          !known.has(
            name
              .split('/')
              .slice(0, name.startsWith('@') ? 2 : 1)
              .join('/'),
          ),
      );
    assert.deepEqual(unknown, []);
  });

  it('can run tasks of a module on threads and on processes', async () => {
    const output = await node(`
      import { tasks } from 'longpole';
      const { add, sum } = tasks(import.meta.url, { add: (a, b) => a + b, sum: (xs) => xs.reduce((a, b) => a + b, 0) });
      const total = sum([add(1, 2), add(3, 4)]);
      console.log(await total.compute(), await total.compute({ scheduler: 'processes' }));
    `);
    assert.equal(output, '10 10\n');
  });

  it('can run a graph in Dask form on every scheduler of longpole/local', async () => {
    const output = await node(`
      import { getMultiprocessing, getSync, getThreaded } from 'longpole/local';
      const add = (a, b) => a + b;
      const mul = (a, b) => a * b;
      const graph = { a: [add, 1, 2], b: [add, 3, 'a'], c: [mul, 'a', 'b'] };
      console.log(getSync(graph, 'c'), await getThreaded(graph, 'c'), await getMultiprocessing(graph, ['a', ['c']]));
    `);
    assert.equal(output, '18 18 [ 3, [ 18 ] ]\n');
  });

  it('can profile a run and write the page', async () => {
    const output = await node(`
      import { CacheProfiler, Profiler, ProgressBar, ResourceProfiler, visualize } from 'longpole/diagnostics';
      import { getThreaded } from 'longpole/local';
      const profilers = [new Profiler(), new ResourceProfiler(), new CacheProfiler()];
      await getThreaded({ x: [(a) => a + 1, 1] }, 'x', { callbacks: [new ProgressBar(), ...profilers] });
      visualize(profilers, { filename: 'profile.html' });
      console.log(profilers[0].results.length);
    `);
    assert.match(output, /^\[#{40}\] \| 100% Completed \| .* s\n1\n$/);
    assert.match(readFileSync(join(project, 'profile.html'), 'utf8'), /^<!doctype html>/i);
  });

  it('can record, open and analyse events', async () => {
    const output = await node(`
      import { TraceAnalyser } from 'longpole/analysis';
      import { EventProfiler, openTrace } from 'longpole/trace';
      const profiler = new EventProfiler('events.msgpack');
      profiler.recordCompleteEvent('Compute', 2, 1, { processId: 'h', threadId: 'w', args: { key: 'load-0' } });
      profiler.commit();
      console.log(new TraceAnalyser(openTrace('events.msgpack')).perFunctionBottleneck().rows[0].Function);
    `);
    assert.equal(output, 'load\n');
  });

  it('has types with which a strict program compiles', async () => {
    writeFileSync(
      join(project, 'consumer.mts'),
      `import { type Delayed, tasks } from 'longpole';
       import { Callback, CacheProfiler, nbytes } from 'longpole/diagnostics';
       import { getSync, type Graph } from 'longpole/local';
       import { type Row, TraceAnalyser } from 'longpole/analysis';
       import { type DasfEvent, MultiEventDatabase, openTrace, type Trace } from 'longpole/trace';
       export const trace: Trace = openTrace('x');
       export const rows: readonly Row[] = new TraceAnalyser(trace, { compat: 'dasf' }).perTaskBottleneck().rows;
       export const events: DasfEvent[] = [...new MultiEventDatabase([])];
       const { size, sum } = tasks(import.meta.url, {
         size: async (text: string) => text.length,
         sum: (sizes: readonly number[]) => sizes.reduce((a, b) => a + b, 0),
       });
       const parts: Delayed<number>[] = ['a', 'bc'].map((text) => size(text));
       export const total: Promise<number> = sum(parts).compute({ numWorkers: 2 });
       // @ts-expect-error: a number is not a string
       size(1);
       const graph: Graph = { a: [(x: number) => x, 1] };
       export const a: unknown = getSync(graph, 'a', { callbacks: [new CacheProfiler({ metric: nbytes })] });
       export class Keys extends Callback {
         readonly seen: string[] = [];
         override _pretask(key: string): void { this.seen.push(key); }
       }`,
    );
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    options.push('--lib', 'es2023,esnext.disposable');
    const tsc = repositoryPath('node_modules/typescript/bin/tsc');
    assert.equal(await runOrThrow(process.execPath, [tsc, ...options, 'consumer.mts'], { cwd: project }), '');
  });

  it('has a command that runs the demo on its own node_modules', async () => {
    const bin = join(project, 'node_modules/.bin/longpole');
    assert.match(await runOrThrow(bin, ['--version'], { cwd: project }), /^\d+\.\d+\.\d+\n$/);
    // Parsing the compiled modules and these packages would take longer than the other tests. The command runs the bundle.
    for (const name of readdirSync(join(installed, 'dist'))) {
      if (!['bundle', 'dashboard', 'examples'].includes(name))
        rmSync(join(installed, 'dist', name), { recursive: true });
    }
    for (const name of ['tsx', 'yaml']) rmSync(join(project, 'node_modules', name), { recursive: true });
    const result: { folder: string; files: number; page: string } = JSON.parse(
      await runOrThrow(bin, ['demo', '--json', '--workers', '2', '--page', 'demo.html'], { cwd: project }),
    );
    assert.equal(result.folder, join(project, 'node_modules'));
    assert.ok(result.files > 100);
    assert.ok(statSync(result.page).size > 10_000);
    assert.equal((await runCommand(bin, ['demo', '--nonsense'], { cwd: project })).code, 2);
  });
});

// The wheel as users get it: built, installed by pip without a network into a fresh environment, and used there. Skipped
// without a Python that can build it.
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openTrace } from 'longpole/trace';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { repositoryPath } from '../support/repository.js';
import { runCommand, runOrThrow } from '../support/runCommand.js';
import { ENVIRONMENT } from './environment.js';

const RECORDED = repositoryPath('test/fixtures/version-1/recorded');
const python = pythonWith('tomllib, venv, pip');

const folder = mkdtempSync(join(tmpdir(), 'longpole-wheel-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const venv = join(folder, 'venv');
/** Arguments of a Python that run its pip for the fresh environment. */
const pip = ['-m', 'pip', '--disable-pip-version-check', '--python', venv];
const inVenv = (program: string): string => join(venv, 'bin', program);

/** Environment without the checkout and without settings of pip. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PYTHONPATH, ...env } = ENVIRONMENT;
  assert.ok(PYTHONPATH !== undefined);
  for (const name of Object.keys(env)) if (/^pip_/i.test(name)) delete env[name];
  return env;
}

const env = cleanEnvironment();

async function install(name: string): Promise<void> {
  await runOrThrow(name, [repositoryPath('python/backend/longpole_backend.py'), folder], { env });
  const wheels = readdirSync(folder).filter((file) => file.endsWith('.whl'));
  assert.deepEqual(wheels, ['longpole-0.1.0-py3-none-any.whl']);
  await runOrThrow(name, ['-m', 'venv', '--without-pip', venv], { env });
  const options = ['install', '--quiet', '--no-deps', '--no-index'];
  const args = [...pip, ...options, join(folder, wheels[0] ?? '')];
  await runOrThrow(name, args, { env, cwd: folder });
}

let installed: Promise<void> | undefined;

const withWheel = (test: () => Promise<void>) => async (): Promise<void> => {
  assert.ok(python !== undefined);
  installed ??= install(python);
  await installed;
  await test();
};

const inPython = (source: string, more: NodeJS.ProcessEnv = {}) =>
  runCommand(inVenv('python'), ['-c', source], { cwd: folder, env: { ...env, ...more } });

/** Returns the last line of the traceback of a program that fails. */
async function failure(source: string, more: NodeJS.ProcessEnv): Promise<string> {
  const { code, stderr } = await inPython(source, more);
  assert.equal(code, 1, stderr);
  return stderr.trim().split('\n').at(-1) ?? '';
}

function writeProgram(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

describe('the wheel', { skip: python === undefined && 'no Python >= 3.11 with venv and pip' }, () => {
  it(
    'has every file in its record, and no tests, types of TypeScript or binaries',
    withWheel(async () => {
      await runOrThrow(python ?? '', [...pip, 'check'], { env });
      const { stdout } = await inPython(`
import importlib.metadata
distribution = importlib.metadata.distribution("longpole")
assert all(file.locate().is_file() for file in distribution.files)
print(distribution.version, *[str(file) for file in distribution.files], sep="\\n")`);
      const [version, ...files] = stdout.trim().split('\n');
      assert.match(version ?? '', /^\d+\.\d+\.\d+$/);
      for (const file of ['longpole/py.typed', 'longpole/_node/node_modules/commander/LICENSE'])
        assert.ok(files.includes(file), file);
      assert.deepEqual(
        files.filter((file) => /\.test\.|\.d\.[cm]?ts$|\.map$|\.node$|\/(esbuild|tsx|koffi)\//.test(file)),
        [],
      );
    }),
  );

  it(
    'opens a trace with its own program',
    withWheel(async () => {
      const { code, stdout, stderr } = await inPython(`
import longpole
print(longpole.__file__, longpole.__version__)
run = longpole.open(${JSON.stringify(RECORDED)})
print(len(run.critical_path.parts) > 0, len(run.simulate(workers=[2, 4])), "tasks" in run.tables)
print(longpole.diff(run, run).failed)
run.table("tasks")`);
      assert.deepEqual(stdout.split('\n').slice(1), ['True 2 True', 'False', '']);
      assert.ok(stdout.startsWith(venv));
      assert.equal(code, 1);
      assert.match(
        stderr,
        /A table needs a package that this Python lacks\. Install pandas and pyarrow, or polars/,
      );
    }),
  );

  it(
    'has the command longpole, which records without the package for compression',
    withWheel(async () => {
      assert.match(await runOrThrow(inVenv('longpole'), ['--version'], { env }), /^\d+\.\d+\.\d+\n$/);
      const library = join(
        venv,
        'lib',
        readdirSync(join(venv, 'lib'))[0] ?? '',
        'site-packages/longpole/_node/dist/bundle/index.js',
      );
      const program = writeProgram(
        'program.mjs',
        `import { compute, tasks } from ${JSON.stringify(pathToFileURL(library).href)};
         const { inc } = tasks(import.meta.url, { inc: (x) => x + 1 });
         console.log((await compute(Array.from({ length: 3000 }, (_, i) => inc(i)))).length);`,
      );
      const trace = join(folder, 'program.trace');
      const args = ['run', '--no-dashboard', '--trace', trace, program];
      assert.match(await runOrThrow(inVenv('longpole'), args, { env, cwd: folder }), /^3000$/m);
      const { damage, tasks } = openTrace(trace);
      assert.deepEqual([damage, tasks.length], [undefined, 3000]);
      const answer = await runOrThrow(inVenv('longpole'), ['analyze', trace, '-a', 'time-by-prefix'], {
        env,
      });
      assert.match(answer, /\binc\b/);
      const typed = await runCommand(inVenv('longpole'), ['run', writeProgram('program.ts', '')], {
        env,
        cwd: folder,
      });
      assert.equal(typed.code, 2);
      assert.match(
        typed.stderr,
        /^longpole: This installation has no compiler of TypeScript\. .*npm install longpole/m,
      );
    }),
  );

  it(
    'calls a function of a module in JavaScript, and says that others need esbuild',
    withWheel(async () => {
      writeProgram(
        'called.mjs',
        "import { sep } from 'node:path'; export const join = (a, b) => a + sep + b;",
      );
      const source = (file: string): string =>
        `import longpole_dask; print(longpole_dask.function("${file}", "join")("a", "b"))`;
      assert.equal((await inPython(source('called.mjs'))).stdout, 'a/b\n');
      writeProgram('importing.mjs', "export { join } from './called.mjs';");
      assert.match(
        await failure(source('importing.mjs'), {}),
        /^RuntimeError: importing\.mjs imports '\.\/called\.mjs', and no esbuild is installed here.*npm install esbuild/,
      );
      writeProgram('typed.ts', 'export const join = (a: string, b: string) => a + b;');
      assert.match(
        await failure(source('typed.ts'), {}),
        /^RuntimeError: typed\.ts is no module in JavaScript/,
      );
    }),
  );

  it(
    'says in a sentence which Node it needs',
    withWheel(async () => {
      const open = 'import longpole; longpole.open("x")';
      const missing = { LONGPOLE_NODE: join(folder, 'missing/node') };
      assert.match(
        await failure(open, missing),
        /^longpole\.LongpoleError: LONGPOLE_NODE=\S+ is no program.*Node 20\.19 or newer.*\(ERR_LONGPOLE_INSTALLATION\)$/,
      );
      const old = writeProgram('old', '#!/bin/sh\necho v18.20.4\n');
      assert.match(
        await failure(open, { LONGPOLE_NODE: old }),
        /old is Node v18\.20\.4, which is too old\. Install Node 20\.19/,
      );
      const other = writeProgram('other', '#!/bin/sh\necho hello\n');
      assert.match(await failure(open, { LONGPOLE_NODE: other }), /other is not Node: hello\./);
      assert.match(
        await failure(open, { LONGPOLE_NODE: '', PATH: folder }),
        /No program node is on the PATH/,
      );
      const { code, stderr } = await runCommand(inVenv('longpole'), ['--version'], {
        env: { ...env, ...missing },
      });
      assert.equal(code, 2);
      assert.match(stderr, /^longpole: LONGPOLE_NODE=\S+ is no program.*\n$/);
    }),
  );

  it(
    'says how to build a checkout that is not built',
    withWheel(async () => {
      const copy = join(folder, 'copy');
      mkdirSync(join(copy, 'python'), { recursive: true });
      for (const name of ['python/longpole', 'python/longpole_dask'])
        cpSync(repositoryPath(name), join(copy, name), { recursive: true });
      assert.ok(statSync(join(copy, 'python/longpole/__init__.py')).isFile());
      const text = await failure('import longpole; longpole.open("x")', { PYTHONPATH: join(copy, 'python') });
      assert.match(text, /npm ci && npm run build\. \(ERR_LONGPOLE_INSTALLATION\)$/);
    }),
  );
});

// Node processes of functions of TypeScript that Python calls without Dask.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { ENVIRONMENT } from '../python/environment.js';
import { isAlive } from '../support/programs.js';
import { repositoryPath } from '../support/repository.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, python, until } from './nodeCluster.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-python-typescript-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Raised {
  readonly class: string | null;
  readonly text: string;
}

/** Returns the arguments of Python for a part of typescript_calls.py. */
const programOf = (part: string, file: string): string[] => [
  repositoryPath('test/dask/typescript_calls.py'),
  part,
  repositoryPath('test/dask/calledFunctions.ts'),
  'none',
  join(folder, file),
];

describe('functions of TypeScript without Dask', { skip: python === undefined && NO_PYTHON }, () => {
  it('have a Node process for each thread, keep stacks, and say which Node they need', async () => {
    const printed = await runOrThrow(python ?? '', programOf('alone', 'meet'), { env: ENVIRONMENT });
    const { missing, made, stack, ...others }: { missing: Raised; made: Raised; stack: string } =
      JSON.parse(printed);
    assert.deepEqual(others, { results: [49, [1]], processes: 3, forked: 0, distributed: null });
    assert.match(stack, /^RangeError: more than 3\n +at outOfRange \(\S*calledFunctions\.ts:\d+:\d+\)/);
    assert.equal(missing.class, 'RuntimeError');
    assert.match(missing.text, /LONGPOLE_NODE=\/no\/such\/node is no program.*Node 20\.19.* The machine is /);
    assert.match(made.text, /LONGPOLE_NODE=\/no\/such\/node is no program/);
  });

  it('end with their Python process, also during a call that never returns', async (test: TestContext) => {
    const file = join(folder, 'spinning');
    const program = spawn(python ?? '', programOf('spinning', 'spinning'), {
      env: ENVIRONMENT,
      stdio: 'inherit',
    });
    test.after(() => program.kill('SIGKILL'));
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    const pid = Number(readFileSync(file, 'utf8'));
    assert.ok(isAlive(pid));
    program.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });

  it('keep their files in a folder, which the next process removes if theirs was killed', async (test: TestContext) => {
    const files = join(folder, 'files');
    mkdirSync(files);
    const env = { ...ENVIRONMENT, TMPDIR: files };
    const file = join(folder, 'killed');
    const program = spawn(python ?? '', programOf('spinning', 'killed'), { env, stdio: 'inherit' });
    test.after(() => program.kill('SIGKILL'));
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    const [own = ''] = readdirSync(files);
    await runOrThrow(python ?? '', programOf('alone', 'beside'), { env });
    // The owner lives.
    assert.deepEqual(readdirSync(files), [own]);
    program.kill('SIGKILL');
    await once(program, 'close');
    await runOrThrow(python ?? '', programOf('alone', 'after'), { env });
    assert.deepEqual(readdirSync(files), []);
  });
});

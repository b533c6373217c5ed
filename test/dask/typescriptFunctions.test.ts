// Functions of TypeScript that Python calls as tasks of a real Dask cluster.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ENVIRONMENT } from '../python/environment.js';
import { isAlive } from '../support/programs.js';
import { repositoryPath } from '../support/repository.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, NodeCluster, python, until } from './nodeCluster.js';

const MODULE = repositoryPath('test/dask/calledFunctions.ts');

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-typescript-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Raised {
  readonly class: string | null;
  readonly text: string;
}

/** Runs a part of typescript_calls.py. */
async function run<T>(part: string, address: string, ...more: string[]): Promise<T> {
  const args = [repositoryPath('test/dask/typescript_calls.py'), part, MODULE, address, ...more];
  return JSON.parse(await runOrThrow(python ?? '', args, { env: ENVIRONMENT }));
}

describe('functions of TypeScript on Dask', {
  skip: python === undefined && NO_PYTHON,
  timeout: 450_000,
}, () => {
  let cluster: NodeCluster;

  before(async () => {
    const env = { LONGPOLE_NODE: process.execPath };
    cluster = await NodeCluster.start(python ?? '', { workers: 1, threads: 2, env });
  });
  after(() => cluster.close());

  it('receive and return the values of the table, on workers without the package', async () => {
    const { same, ...others } = await run<{ same: boolean[] }>('values', cluster.address);
    assert.deepEqual(
      same,
      same.map(() => true),
    );
    assert.deepEqual(others, {
      classes: [
        ...['number', 'bigint', 'number', 'Array', 'Uint8Array', 'Float64Array', 'Uint8Array', 'Object'],
      ],
      total: 1000,
      map: [0, 1, 4, 9, 16],
      delayed: 81,
      later: 'awaited',
      key: true,
      prefix: 'echo',
      package: [false],
    });
  });

  it('fail with an error that has the stack of JavaScript, and refuse other values by their type', async () => {
    const broken = join(folder, 'broken.mjs');
    writeFileSync(broken, "import './missing.mjs';");
    const { thrown, ...refused } = await run<Record<string, Raised> & { thrown: Record<string, string> }>(
      'errors',
      cluster.address,
      broken,
    );
    const { stack = '', ...error } = thrown;
    assert.deepEqual(error, { function: 'outOfRange', name: 'RangeError', message: 'more than 3' });
    assert.match(stack, /^RangeError: more than 3\n +at outOfRange \(\S*calledFunctions\.ts:\d+:\d+\)/);
    const expected: Record<string, readonly [string | null, RegExp]> = {
      text: ['TypeScriptError', /^throwsText threw only text$/],
      set: ['TypeError', /^Argument 2 of echo cannot be sent to TypeScript: \['a'\]\[1\] is a set\. Pass /],
      instance: [
        'TypeError',
        /^Argument 1 of echo .* it is a __main__\.errors\.<locals>\.Own\. Pass numbers/,
      ],
      grid: ['TypeError', /a numpy array of 2 dimensions; use array\.ravel\(\)/],
      map: ['TypeError', /^The result of nested cannot be sent to Python: \.a\[1\] is a Map\. Return /],
      keyword: ['TypeError', /unexpected keyword argument 'value'/],
      exits: ['RuntimeError', /^Node ended with exit code 7 during exits of \S+calledFunctions\.ts\./],
      after: [null, /^5$/],
      name: ['AttributeError', /calledFunctions\.ts exports no function 'ecko'\. Its exports: .*echo/],
      file: ['FileNotFoundError', /^There is no module \/\S+\/no\/such\.mjs\. Pass the path/],
      module: ['RuntimeError', /Could not resolve "\.\/missing\.mjs" \(.*broken\.mjs:1\)/],
    };
    assert.deepEqual(Object.keys(refused), Object.keys(expected));
    for (const [name, [kind, text]] of Object.entries(expected)) {
      assert.equal(refused[name]?.class, kind, JSON.stringify(refused[name]));
      assert.match(refused[name]?.text ?? '', text);
    }
  });

  it('run at the same time on all threads, also on a worker that joins later', async () => {
    const meet = (count: number): Promise<number[]> =>
      run('together', cluster.address, join(folder, `meet-${count}`), String(count));
    assert.equal((await meet(2)).length, 2);
    await cluster.scale(2);
    await until(async () => Object.keys(await cluster.pids()).length === 2);
    assert.equal((await meet(4)).length, 4);
  });

  it('end their Node processes when their worker is killed, also during a call', async () => {
    const [[address, pid] = assert.fail()] = Object.entries(await cluster.pids());
    const processes = await run<number[]>('held', cluster.address, address, join(folder, 'spinning'));
    assert.deepEqual(processes.map(isAlive), [true, true]);
    process.kill(pid, 'SIGKILL');
    await until(() => !processes.some(isAlive));
  });
});

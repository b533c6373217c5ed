// The examples of the repository on a real Dask cluster, unchanged: `longpole run --dask` sets the cluster.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryPath } from '../support/repository.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, NodeCluster, python } from './nodeCluster.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-examples-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('an example on a Dask cluster', {
  skip: python === undefined && NO_PYTHON,
  timeout: 450_000,
}, () => {
  let cluster: NodeCluster;
  before(async () => {
    cluster = await NodeCluster.start(python ?? '');
    for (let i = 0; i < 20; i++)
      writeFileSync(join(folder, `${i}.txt`), `The long pole ${'and the task '.repeat(i)}\n`);
    mkdirSync(join(folder, 'sources'));
    writeFileSync(join(folder, 'sources/a.mjs'), 'export const twice = (a) => a + a;\n');
    writeFileSync(join(folder, 'sources/b.mjs'), 'const = 1;\n');
  });
  after(() => cluster.close());

  /** Returns what an example prints. */
  const example = (name: string, ...args: readonly string[]): Promise<string> => {
    const run = ['run', '--no-dashboard', '--dask', cluster.address];
    const program = [repositoryPath(`dist/examples/${name}/main.js`), ...args];
    return runOrThrow(process.execPath, [repositoryPath('dist/bundle/main.js'), ...run, ...program], {
      cwd: folder,
      env: { ...process.env, LONGPOLE_PYTHON: cluster.python },
    });
  };

  it('counts words', async () => {
    assert.match(
      await example('word-count', folder, '--extension', '.txt'),
      /^20 files\n {3}190 task\n {4}20 long\n {4}20 pole\nworkers: dask-[01], dask-[01]$/m,
    );
  });

  it('factorises a matrix', async () => {
    const printed = await example('tsqr', '--rows', '600', '--columns', '40', '--page', 'tsqr.html');
    assert.ok(Number(/\|a\| = (\S+)/.exec(printed)?.[1]) < 1e-13, printed);
  });

  it('parses sources, of which one is not correct', async () => {
    const printed = await example('parse-sources', '--dir', 'sources', '--page', 'parse.html');
    assert.match(printed, /\b1 {2}file did not parse\n +b\.mjs: Unexpected token/);
  });

  it('clusters samples in a pipeline', async () => {
    const size = ['--samples', '3000', '--chunk', '1000', '--epochs', '4'];
    const printed = await example('pipeline', ...size, '--name', 'dask', '--output', 'out');
    assert.match(printed, /k-means: adjusted Rand index (0\.9|1)/);
    assert.match(printed, /Pipeline run successfully/);
  });
});

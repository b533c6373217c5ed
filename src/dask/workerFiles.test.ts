import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { bundleModules } from './moduleBundle.js';
import { WORKER_ENTRY, workerFiles } from './workerFiles.js';

const OPTIONAL = new Set(['koffi', 'lz4-napi', 'tsx', 'esbuild']);
const SPECIFIER = /\b(?:from|import|__longpole_import\()\s*["']([\w@./:-]+)["']/g;
const ENTRIES = ['longpole', 'longpole/local', 'longpole/diagnostics', 'longpole/trace', 'longpole/analysis'];

/** Folder of a module of tasks, and of a worker. */
const folder = mkdtempSync(join(tmpdir(), 'longpole-worker-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function bundleOf(text: string): Promise<string> {
  const file = join(folder, 'tasks.mjs');
  writeFileSync(file, text);
  const { bytes } = await bundleModules([pathToFileURL(file).href], 'bundle');
  return Buffer.from(bytes).toString();
}

describe("Longpole's files for a worker", () => {
  it('import one another, modules of Node, and packages that a worker may lack', async () => {
    const files = new Map(
      (await workerFiles()).map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]),
    );
    assert.ok(files.has(WORKER_ENTRY));
    for (const [name, text] of files) {
      if (!name.includes('/bundle/')) continue;
      for (const [, specifier = ''] of text.matchAll(SPECIFIER)) {
        const isFile = files.has(posix.join(posix.dirname(name), specifier));
        const [packageName = ''] = specifier.split('/');
        assert.ok(
          isFile || isBuiltin(specifier) || OPTIONAL.has(packageName),
          `${name} imports ${specifier}`,
        );
      }
    }
  });

  it('contain every entry point that modules of tasks import, so that these need not be bundled', async () => {
    const names = new Set((await workerFiles()).map(({ name }) => `./${name}`));
    const imports = ENTRIES.map((entry, index) => `import * as part${index} from '${entry}';`).join('\n');
    const text = await bundleOf(`${imports}\nconsole.log(part0, part1, part2, part3, part4);`);
    const found = [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => specifier);
    assert.deepEqual(
      found.filter((specifier) => specifier.includes('longpole')).map((specifier) => names.has(specifier)),
      ENTRIES.map(() => true),
    );
  });

  it('contain the packages that are loaded at their first use', async () => {
    for (const { name, bytes } of await workerFiles()) {
      const file = join(folder, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    }
    const require = createRequire(join(folder, WORKER_ENTRY));
    for (const name of ['acorn', 'eslint-scope', 'yaml'])
      assert.ok(require.resolve(name).startsWith(folder), require.resolve(name));
    assert.equal(require('acorn').parse('1', { ecmaVersion: 'latest' }).type, 'Program');
    assert.equal(require('yaml').stringify({ a: 1 }), 'a: 1\n');
    assert.equal(typeof require('eslint-scope').analyze, 'function');
  });
});

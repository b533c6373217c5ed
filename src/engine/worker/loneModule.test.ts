import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadLone } from './loneModule.js';

const FILES = {
  'node_modules/dual/package.json':
    '{ "name": "dual", "exports": { "import": "./module.mjs", "require": "./script.cjs" } }',
  'node_modules/dual/module.mjs': "export const kind = 'module';",
  'node_modules/dual/script.cjs': "exports.kind = 'script';",
  'node_modules/script/package.json': '{ "name": "script", "main": "./script.js" }',
  'node_modules/script/script.js': "exports.kind = 'script';",
  'node_modules/waits/package.json': '{ "name": "waits", "main": "./waits.mjs" }',
  'node_modules/waits/waits.mjs': "export const kind = await Promise.resolve('waits');",
  'package.json': '{ "type": "module" }',
};
const isNode20 = process.versions.node.startsWith('20.');
const skip = isNode20 ? false : 'Node 20 only';

test('a compiled module is loaded without hooks only on Node 20, which needs a thread for them', () => {
  const url = pathToFileURL(join(tmpdir(), 'longpole-lone.ts')).href;
  assert.equal(loadLone(url, { source: 'export {};', imports: new Map() }), isNode20);
});

describe('a compiled module that imports no other', { skip }, () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'longpole-lone-'));
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  const urlOf = (name: string): string => pathToFileURL(join(folder, name)).href;

  /** Returns the URL of a file that Node could not load, and whether its compiled module could be loaded alone. */
  function loaded(
    name: string,
    source: string,
    imports: Readonly<Record<string, string>> = {},
  ): { url: string; alone: boolean } {
    writeFileSync(join(folder, name), 'enum Size { Large }');
    const url = urlOf(name);
    return { url, alone: loadLone(url, { source, imports: new Map(Object.entries(imports)) }) };
  }

  it('is found by import()', async () => {
    const { url, alone } = loaded('own.ts', 'export const url = import.meta.url; export default 7;');
    assert.equal(alone, true);
    assert.deepEqual({ ...(await import(url)) }, { url, default: 7 });
  });

  it('may await at its top level, and so may packages that it imports', async () => {
    const { url, alone } = loaded('awaits.ts', 'export const five = await Promise.resolve(5);');
    assert.equal(alone, true);
    assert.equal((await import(url)).five, 5);
    const other = loaded('imports.ts', "export { kind } from 'waits';", {
      waits: urlOf('node_modules/waits/waits.mjs'),
    });
    assert.equal(other.alone, true);
    assert.equal((await import(other.url)).kind, 'waits');
  });

  it('imports the same packages as other modules', async () => {
    const source =
      "import { kind } from 'dual'; import * as script from 'script'; export default [kind, script.kind];";
    const { url, alone } = loaded('packages.ts', source, {
      dual: urlOf('node_modules/dual/module.mjs'),
      script: urlOf('node_modules/script/script.js'),
    });
    assert.equal(alone, true);
    assert.deepEqual((await import(url)).default, ['module', 'script']);
  });

  it('throws its own error', () => {
    assert.throws(() => loaded('fails.ts', "throw new RangeError('no');"), {
      name: 'RangeError',
      message: 'no',
    });
  });

  it('needs hooks if a specifier is an alias', () => {
    const dual = urlOf('node_modules/dual/module.mjs');
    for (const specifier of ['other', '@dual', '#dual', './node_modules/dual/module.mjs'])
      assert.equal(loaded('alias.ts', `import '${specifier}';`, { [specifier]: dual }).alone, false);
  });
});

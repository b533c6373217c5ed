import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const LOADERS = ['loadScript.mjs', 'scriptLoader.cjs'];
const loader = (name) => fileURLToPath(new URL(name, import.meta.url));
const FIRST = "const second = require('./second.cjs'); exports.text = second.name + '-' + typeof undefined;";
let folder;
let compiled;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longpole-scripts-'));
  compiled = join(folder, 'compiled');
  for (const name of LOADERS) copyFileSync(loader(name), join(folder, name));
  writeFileSync(join(folder, 'first.cjs'), FIRST);
  writeFileSync(join(folder, 'second.cjs'), "exports.name = 'one'; exports.first = require('./first.cjs');");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in the folder, and returns what it prints. */
async function output(program, ...options) {
  const text = `import load from '${join(folder, 'loadScript.mjs')}'; ${program}`;
  const args = [...options, '--input-type=module', '--eval', text];
  return (await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout.trim();
}
const PROGRAM = "console.log(load('./first.cjs').text, load('./first.cjs') === load('./second.cjs').first);";
const RESULT = 'one-undefined true';
/** Runs the program. Returns for each script whether V8 rejected what was kept of it. */
async function rejections() {
  const watch = `import vm from 'node:vm';
    const rejected = [];
    vm.Script = class extends vm.Script {
      constructor(...args) { super(...args); rejected.push(this.cachedDataRejected); }
    };
    process.on('exit', () => console.log(JSON.stringify(rejected.filter((one) => one !== undefined))));`;
  const printed = await output(PROGRAM, `--import=data:text/javascript,${encodeURIComponent(watch)}`);
  return JSON.parse(printed.split('\n').at(-1));
}
/** Returns what V8 kept. The same text gives other bytes each time. */
const kept = () => readdirSync(compiled).map((name) => readFileSync(join(compiled, name)));

test('a script is compiled once, and again with other options of V8', async () => {
  assert.equal(await output(PROGRAM), RESULT);
  const first = kept();
  assert.equal(first.length, 2);
  assert.equal(await output(PROGRAM), RESULT);
  assert.deepEqual(kept(), first);
  assert.equal(await output(PROGRAM, '--stack-size=900'), RESULT);
  assert.equal(kept().length, 4);
});

test('a program that changes options of V8 leaves what other programs can use', async () => {
  const change = "(await import('node:v8')).setFlagsFromString('--stack-size=900');";
  assert.equal(await output(PROGRAM + change), RESULT);
  assert.deepEqual(await rejections(), [false, false]);
});

test('what V8 rejects is replaced', async () => {
  await output(PROGRAM);
  // What another program with other options has kept, under the names of this one.
  const names = readdirSync(compiled);
  await output(PROGRAM, '--stack-size=900');
  for (const other of readdirSync(compiled).filter((one) => !names.includes(one)))
    copyFileSync(
      join(compiled, other),
      join(
        compiled,
        names.find((one) => one.startsWith(other.split('-')[0])),
      ),
    );
  assert.deepEqual(await rejections(), [true, true]);
  assert.deepEqual(await rejections(), [false, false]);
});

test('a second loader in the same folder has the scripts of the first', async () => {
  copyFileSync(loader('loadScript.mjs'), join(folder, 'again.mjs'));
  const program = `import again from '${join(folder, 'again.mjs')}'; console.log(again('./first.cjs') === load('./first.cjs'));`;
  assert.equal(await output(program), 'true');
});

test('a script imports modules, also if the program must not evaluate texts', async () => {
  writeFileSync(join(folder, 'first.cjs'), "exports.imported = __longpole.import('./module.mjs');");
  writeFileSync(join(folder, 'module.mjs'), "export const name = 'imported';");
  writeFileSync(join(folder, 'importer.cjs'), 'module.exports = (specifier) => import(specifier);');
  const program = "console.log((await load('./first.cjs').imported).name);";
  assert.equal(await output(program), 'imported');
  assert.equal(await output(program, '--disallow-code-generation-from-strings'), 'imported');
});

test('what one release of Node compiled is not used by another, because V8 does not compare the releases', async () => {
  assert.equal(await output(PROGRAM), RESULT);
  const other = "Object.defineProperty(process, 'version', { value: 'v20.0.1' });";
  assert.equal(await output(PROGRAM, `--import=data:text/javascript,${encodeURIComponent(other)}`), RESULT);
  assert.equal(kept().length, 4);
});

test('a changed script of the same length is compiled again', async () => {
  await output(PROGRAM);
  const second = join(folder, 'second.cjs');
  writeFileSync(second, readFileSync(second, 'utf8').replace('one', 'two'));
  assert.equal(await output(PROGRAM), 'two-undefined true');
  assert.equal(kept().length, 2);
});

test('in a copy of the folder, stacks name the files of the copy', async () => {
  writeFileSync(join(folder, 'failing.cjs'), 'exports.stack = () => new Error().stack;');
  const program = "console.log(load('./failing.cjs').stack());";
  assert.ok((await output(program)).includes(join(folder, 'failing.cjs')));
  const first = folder;
  const copy = mkdtempSync(join(tmpdir(), 'longpole-copy-'));
  try {
    cpSync(first, copy, { recursive: true });
    folder = copy;
    assert.ok((await output(program)).includes(join(copy, 'failing.cjs')));
  } finally {
    folder = first;
    rmSync(copy, { recursive: true, force: true });
  }
});

test('a damaged file of V8 is replaced', async () => {
  await output(PROGRAM);
  const [, second] = readdirSync(compiled)
    .sort()
    .map((name) => join(compiled, name));
  const whole = readFileSync(second);
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1] ^= 1;
  for (const damaged of [flipped, whole.subarray(0, -9), Buffer.alloc(0)]) {
    writeFileSync(second, damaged);
    assert.equal(await output(PROGRAM), RESULT);
    assert.equal(readFileSync(second).length, whole.length);
    assert.notDeepEqual(readFileSync(second), damaged);
  }
});

test('scripts run if nothing can be written beside them', async () => {
  writeFileSync(compiled, 'not a folder');
  assert.equal(await output(PROGRAM), RESULT);
  assert.deepEqual(readdirSync(folder).sort(), ['compiled', 'first.cjs', ...LOADERS, 'second.cjs']);
});

test('a missing script is an error with advice, each time', async () => {
  rmSync(join(folder, 'second.cjs'));
  const program =
    "try { load('./first.cjs'); } catch {} try { load('./first.cjs'); } catch (error) { console.log(error.code, error.message); }";
  assert.match(
    await output(program),
    /^ERR_LONGPOLE_INSTALLATION .*second\.cjs cannot be read\. .*exclude Longpole from the bundle/,
  );
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('test.mjs', import.meta.url));
const HEAD = "import { test } from 'node:test'; import assert from 'node:assert/strict';\n";

/** Runs the test command over a folder with the given test files. */
async function runTests(files, args = []) {
  const root = mkdtempSync(join(tmpdir(), 'runner-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await new Promise((resolve) => {
      const env = { ...process.env };
      // An outer `node --test` sets this variable, and an inner runner would report to the outer one.
      delete env.NODE_TEST_CONTEXT;
      execFile(process.execPath, [RUNNER, '--root', root, '--no-lint', ...args], { env }, (error, stdout) => {
        resolve({ code: error === null ? 0 : error.code, stdout, last: stdout.trimEnd().split('\n').at(-1) });
      });
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

test('counts passed and skipped tests, and subtests', async () => {
  const { code, last } = await runTests({
    'scripts/a.test.mjs': `${HEAD}test('one', () => {}); test('later', { skip: true }, () => {});`,
    'scripts/b.test.mjs': `${HEAD}test('parent', async (t) => { await t.test('child', () => {}); });`,
  });
  assert.equal(last, '3 passed, 0 failed, 1 skipped');
  assert.equal(code, 0);
});

test('prints each failure with its names, and fails', async () => {
  const { code, stdout, last } = await runTests({
    'scripts/a.test.mjs': `${HEAD}test('fine', () => {}); test('outer', async (t) => { await t.test('inner', () => assert.equal(1, 2)); });`,
  });
  assert.equal(last, '1 passed, 1 failed');
  assert.equal(code, 1);
  assert.match(stdout, /FAILED outer > inner\n {2}in scripts\/a\.test\.mjs/);
  assert.match(stdout, /1 !== 2/);
});

test('a failure of a compiled file has the lines of its source', async () => {
  // Line 2 of the compiled file is line 6 of the source.
  const map = { version: 3, sources: ['../src/a.test.ts'], names: [], mappings: ';AAKA' };
  const { stdout } = await runTests({
    'src/a.test.ts': '',
    'dist/a.test.js':
      "const { test } = require('node:test');\ntest('one', () => { throw new Error('no'); });",
    'dist/a.test.js.map': JSON.stringify(map),
  });
  assert.match(stdout, /FAILED one\n {2}in src\/a\.test\.ts:6:1/);
  assert.match(stdout, /at TestContext\.<anonymous> \(\/\S+\/src\/a\.test\.ts:6:1\)/);
});

test('a file that dies while loading is one failure, with what it printed', async () => {
  const { stdout, last } = await runTests({ 'scripts/a.test.mjs': "throw new Error('no luck');" });
  assert.equal(last, '0 passed, 1 failed');
  assert.match(stdout, /no luck/);
});

test('the last output of a file is reported, however long the output is', async () => {
  const { stdout } = await runTests({
    'scripts/a.test.mjs': `import { writeSync } from 'node:fs';
      for (let i = 0; i < 5000; i++) writeSync(2, 'a line of many\\n');
      writeSync(2, 'the last words');
      process.exit(3);`,
  });
  assert.match(stdout, /the last words/);
  assert.match(stdout, /exit code 3/);
});

test('a file that exits during a test is a failure', async () => {
  const { last } = await runTests({
    'scripts/a.test.mjs': `${HEAD}test('one', () => {}); test('two', () => process.kill(process.pid, 'SIGKILL'));`,
  });
  assert.match(last, /^\d passed, 1 failed$/);
});

test('a file that hangs is killed with its children, and the report names the running test', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-mark-'));
  const mark = join(folder, 'endless');
  const hangs = `${HEAD}import { spawn } from 'node:child_process';
    import { existsSync, readFileSync, writeFileSync } from 'node:fs';
    const events = process.env.LONGPOLE_TEST_EVENTS;
    const isReported = (name) => existsSync(events) && readFileSync(events, 'utf8').includes(name);
    test('first', () => {});
    // Simulates a cluster that prints its state and continues.
    process.on('SIGUSR2', () => {
      console.error('Longpole: state of the cluster of process 1 (SIGUSR2):\\n{\\n  all: of it\\n}\\nlongpole: brief state');
      process.exit();
    });
    test('endless', async () => {
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit' });
      while (!isReported('passed') || !isReported('endless')) await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(${JSON.stringify(mark)}, '');
      await new Promise(() => setInterval(() => {}, 1e6));
    });`;
  try {
    // A slow machine needs more than two seconds until the hanging test starts.
    for (let seconds = 2; ; seconds *= 2) {
      const { stdout, last } = await runTests({ 'scripts/a.test.mjs': hangs }, [
        '--timeout',
        String(seconds),
      ]);
      assert.match(stdout, /FAILED the file hung/);
      if (!existsSync(mark) && seconds < 60) continue;
      assert.equal(last, '1 passed, 1 failed');
      assert.match(stdout, /running: endless/);
      if (process.platform === 'linux') assert.match(stdout, /running: endless\n {2}longpole: brief state\n/);
      assert.doesNotMatch(stdout, /all: of it/);
      // The output has the threads of the process and of its child.
      if (process.platform === 'linux') assert.match(stdout, /setInterval[\s\S]*\d+ × [A-Z] \w+/);
      return;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('files that share a process are reported separately', async () => {
  const file = (name, body) => ({ [`src/graph/${name}.test.ts`]: '', [`dist/graph/${name}.test.mjs`]: body });
  const files = {
    ...file('a', `${HEAD}test('one', () => {}); test('two', () => assert.equal(1, 2)); ${'//'.repeat(900)}`),
    ...file('b', `throw new Error('no luck'); ${'//'.repeat(800)}`),
    ...file('c', `export {}; ${'//'.repeat(700)}`),
    ...file('d', `${HEAD}test('four', () => console.log('process', process.pid)); ${'//'.repeat(600)}`),
    ...file('e', `${HEAD}test('five', () => {}); test('last', () => process.kill(process.pid, 'SIGKILL'));`),
    ...file('f', `${HEAD}test('six', () => {});`),
  };
  const { stdout, last } = await runTests(files, ['--verbose']);
  assert.match(stdout, /^dist\/graph\/a\.test\.mjs: 1 passed, 1 failed/m);
  assert.match(stdout, /FAILED two\n {2}in dist\/graph\/a\.test\.mjs:/);
  assert.match(stdout, /^dist\/graph\/b\.test\.mjs: 0 passed, 1 failed/m);
  assert.match(stdout, /no luck/);
  assert.match(stdout, /FAILED no tests\n {2}in dist\/graph\/c\.test\.mjs/);
  assert.match(stdout, /^dist\/graph\/d\.test\.mjs: 1 passed, 0 failed/m);
  assert.match(stdout, /FAILED the process was killed\n {2}in dist\/graph\/e\.test\.mjs/);
  assert.match(stdout, /FAILED the file did not run\n {2}in dist\/graph\/f\.test\.mjs/);
  assert.match(last, /^\d passed, 5 failed$/);
});

test('a file without tests is a failure', async () => {
  assert.equal((await runTests({ 'scripts/a.test.mjs': 'export {};' })).last, '0 passed, 1 failed');
});

test('no file at all is a failure', async () => {
  assert.equal((await runTests({})).last, '0 passed, 1 failed');
});

test('runs the tests of the whole package first and waiting ones last in one lane, and names the slowest files', async () => {
  const note = (name) =>
    `require('node:test').test('a', () => { console.log('${name}'); throw new Error(''); });`;
  const files = {
    'src/small.test.ts': '',
    'dist/small.test.js': note('small'),
    'src/large.test.ts': '',
    'dist/large.test.js': `${note('large')} // ${'-'.repeat(500)}`,
    'test/whole.test.ts': '',
    'dist-test/test/whole.test.js': note('whole'),
    'test/dask/run.test.ts': '',
    'dist-test/test/dask/run.test.js': note('waiting'),
  };
  const { stdout } = await runTests(files, ['--concurrency', '1']);
  assert.match(stdout, /\| whole[\s\S]*\| large[\s\S]*\| small[\s\S]*\| waiting/);
  assert.match(stdout, /slowest: (dist\S+ [\d.]+ s(, |$)){4}/m);
  assert.match(stdout, /^4 test files on Node v[\d.]+, \d+ s/m);
});

test('--runtime selects only the tests that depend on the version of Node', async () => {
  const passing = "require('node:test').test('a', () => {});";
  const files = {
    'test/cluster/calls.test.ts': '',
    'dist-test/test/cluster/calls.test.js': passing,
    'src/graph/two.test.ts': '',
    'dist/graph/two.test.js': passing,
    'src/files/three.test.ts': '',
    'dist/files/three.test.js': `${passing} import('./three.js');`,
    'dist/files/three.js': "import 'node:vm';",
  };
  const { stdout, last } = await runTests(files, ['--runtime', '--verbose']);
  assert.equal(last, '2 passed, 0 failed');
  assert.match(stdout, /cluster\/calls/);
  assert.match(stdout, /files\/three/);
});

test('browser tests share one browser, which is closed at the end', async () => {
  const files = {
    'test/browser/b.test.ts': '',
    'dist-test/test/browser/b.test.js':
      "require('node:test').test('a', () => { if (process.env.SHARED !== 'yes') throw new Error('none'); });",
    'dist-test/test/support/sharedBrowser.js': `exports.shareBrowser = async () => ({
      environment: { SHARED: 'yes' },
      close: async () => console.log('closed'),
    });`,
  };
  const { stdout, last } = await runTests(files, ['--browser']);
  assert.equal(last, '1 passed, 0 failed');
  assert.match(stdout, /^closed$/m);
});

test('browser tests run alone, and only with --browser', async () => {
  const files = {
    'scripts/a.test.mjs': `${HEAD}test('unit', () => {});`,
    'test/browser/b.test.ts': '',
    'dist-test/test/browser/b.test.js': "require('node:test').test('in the browser', () => {});",
    'dist-test/test/gone.test.js': "throw new Error('left over from an earlier build');",
  };
  assert.equal((await runTests(files)).last, '1 passed, 0 failed');
  assert.equal((await runTests(files, ['--browser'])).last, '1 passed, 0 failed');
  assert.equal((await runTests(files, ['scripts/none'])).last, '0 passed, 1 failed');
});

test('a test that imports modules of the package runs with modules only, and one that imports support for tests with the bundle', async () => {
  const ofTest = (name, imported, expected) =>
    `${HEAD}import '#internal/${imported}';
    test('${name}', () => assert.deepEqual(process.execArgv.filter((one) => one.startsWith('--conditions')), ${JSON.stringify(expected)}));`;
  const { stdout, last } = await runTests({
    'package.json': JSON.stringify({ type: 'module', imports: { '#internal/*': './dist/*' } }),
    'dist/part.js': '',
    'dist/alone.test.support.js': '',
    'dist/joined.test.support.js': "import {} from './part.js';",
    'test/bundle.test.js': '',
    'test/modules.test.js': '',
    'test/joined.test.js': '',
    'dist-test/test/bundle.test.js': ofTest('bundle', 'alone.test.support.js', []),
    'dist-test/test/modules.test.js': ofTest('modules', 'part.js', ['--conditions=longpole-modules']),
    'dist-test/test/joined.test.js': ofTest('joined', 'joined.test.support.js', [
      '--conditions=longpole-modules',
    ]),
  });
  assert.equal(last, '3 passed, 0 failed', stdout);
});

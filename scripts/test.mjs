// Runs the compiled tests. A file has a separate process, or shares one with other files that only compute or that share
// clusters. Each process has a time limit. Prints failures in full, little else, and at the end one line: `N passed, N failed`.
//
//   node scripts/test.mjs [--browser | --runtime] [--no-lint] [--timeout SECONDS] [--concurrency N] [--verbose] [PATTERN…]
//
// Without PATTERN (parts of paths), formatter, linter and the checks of imports and words run first; each counts as a
// test. `--runtime` selects the tests that depend on the version of Node, as scripts/lib/runtimeTests.mjs lists them.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { cpuSeconds } from './lib/cpuSeconds.mjs';
import { isRuntimeTest } from './lib/runtimeTests.mjs';
import { withSourceLines } from './lib/sourceLines.mjs';
import { runTestFiles } from './lib/testFile.mjs';
import { inBatches, longestFirst, testFiles, WAITING } from './lib/testFiles.mjs';

/** Time limit of a process in seconds. It ends a hang, and nothing else: a loaded machine may need ten times as long. */
const DEFAULT_TIMEOUT = 480;
/** Starts the Chromium that browser tests share. Without this file each test starts its own. */
const SHARED_BROWSER = 'dist-test/test/support/sharedBrowser.js';
/** Number of files that the last lines name. */
const SLOWEST = 5;
const STEPS = [
  {
    name: 'format and lint (biome check)',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  },
  { name: 'import directions (scripts/checkImports.mjs)', args: ['scripts/checkImports.mjs'] },
  { name: 'words (scripts/checkWords.mjs)', args: ['scripts/checkWords.mjs'] },
];

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    browser: { type: 'boolean', default: false },
    runtime: { type: 'boolean', default: false },
    'no-lint': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    timeout: { type: 'string', default: String(DEFAULT_TIMEOUT) },
    concurrency: { type: 'string' },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  },
});
const root = options.root;
// Node reads these certificates at each start, which takes longer than the rest of its start. No test leaves this machine.
delete process.env.NODE_EXTRA_CA_CERTS;
// Otherwise each Python process compiles the modules that it imports, which takes three times as long as their start.
delete process.env.PYTHONDONTWRITEBYTECODE;
const abort = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => abort.abort());

function chosenFiles() {
  return testFiles(root, { browser: options.browser })
    .filter((file) => !options.runtime || isRuntimeTest(file, root))
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)));
}

async function runStep({ name, args }) {
  try {
    await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1 << 26 });
    return { passed: 1, skipped: 0, failures: [], output: '', seconds: 0 };
  } catch (error) {
    return {
      passed: 0,
      skipped: 0,
      failures: [{ name, where: '', error: error.stdout + error.stderr }],
      output: '',
      seconds: 0,
    };
  }
}

function report(file, { passed, skipped, failures, output, seconds }) {
  if (options.verbose)
    console.log(
      `${file}: ${passed} passed, ${failures.length} failed, ${skipped} skipped, ${seconds.toFixed(1)} s`,
    );
  for (const { name, where, error } of failures) {
    const place = where === '' ? file : relative(root, withSourceLines(where).replace(/^file:\/\//, ''));
    console.log(`\nFAILED ${name}\n  in ${place}\n${withSourceLines(error).trimEnd().replace(/^/gm, '  ')}`);
  }
  if (failures.length > 0 && output.trim() !== '') {
    console.log(`  it printed:\n${withSourceLines(output).trimEnd().replace(/^/gm, '  | ')}`);
  }
}

/** Starts one Chromium for all browser tests. test/support/browser.ts finds it through the returned environment. */
async function shareBrowser() {
  const path = join(root, SHARED_BROWSER);
  if (!existsSync(path)) return undefined;
  const { shareBrowser: share } = await import(pathToFileURL(path).href);
  return share();
}

function slowestOf(times) {
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  return `slowest: ${slowest.map(({ file, seconds }) => `${file} ${seconds.toFixed(1)} s`).join(', ')}`;
}

async function main() {
  const total = { passed: 0, skipped: 0, failed: 0 };
  const add = (name, result) => {
    report(name, result);
    total.passed += result.passed;
    total.skipped += result.skipped;
    total.failed += result.failures.length;
  };
  const begun = cpuSeconds();
  const isWhole = !options['no-lint'] && !options.browser && !options.runtime && patterns.length === 0;
  const files = chosenFiles();
  const others = files.filter((file) => !WAITING.includes(file));
  const waiting = WAITING.filter((file) => files.includes(file)).map((file) => () => runFiles([file]));
  const times = [];
  const shared = options.browser ? await shareBrowser() : undefined;
  const runFiles = async (group) => {
    const paths = group.map((file) => join(root, file));
    const results = await runTestFiles(paths, {
      cwd: root,
      timeout: Number(options.timeout),
      signal: abort.signal,
      env: { ...process.env, ...shared?.environment },
    });
    for (const [index, file] of group.entries()) {
      const result = results[index];
      times.push({ file, seconds: result.seconds });
      add(file, result);
    }
  };
  const queue = [
    ...(isWhole ? STEPS : []).map((step) => async () => add(step.name, await runStep(step))),
    ...inBatches(longestFirst(root, others)).map((group) => () => runFiles(group)),
  ];
  const lane = async (take) => {
    for (let job = take(); job !== undefined && !abort.signal.aborted; job = take()) await job();
  };
  // One more than cores, because tests wait for processes. Not many more, because tests start workers of their own. One
  // further lane has the tests that only wait.
  const lanes = Number(options.concurrency ?? Math.min(4, availableParallelism() + 1));
  const running = Array.from({ length: lanes }, () => lane(() => queue.shift() ?? waiting.shift()));
  if (options.concurrency === undefined) running.push(lane(() => waiting.shift()));
  await Promise.all(running);
  await shared?.close();
  if (files.length === 0) {
    total.failed += 1;
    console.log('FAILED no test file was found. Is the project built? npm run build');
  }
  if (abort.signal.aborted) {
    total.failed += 1;
    console.log('FAILED the run was interrupted');
  }
  if (times.length > 0) console.log(slowestOf(times));
  const cpu = begun === undefined ? '' : `, ${Math.round(cpuSeconds() - begun)} s of CPU`;
  console.log(
    `${files.length} test files on Node ${process.version}, ${(performance.now() / 1000) | 0} s${cpu}`,
  );
  const skipped = total.skipped === 0 ? '' : `, ${total.skipped} skipped`;
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

await main();

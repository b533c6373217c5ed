// The test command. Runs the compiled tests, each file in a process of its own and never longer than its limit, and
// ends with one line: `N passed, N failed`. Failures are printed in full, everything else stays quiet.
//
//   node scripts/test.mjs [--browser] [--no-lint] [--timeout SECONDS] [--concurrency N] [--verbose] [PATTERN…]
//
// Without PATTERN (parts of paths), the formatter, the linter and the import check come first; each counts as a test.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { runTestFile } from './lib/testFile.mjs';

/** Seconds that one file may take. The slowest file of a healthy run needs a quarter of it. */
const DEFAULT_TIMEOUT = 240;
const BROWSER_TESTS = 'dist-test/test/browser/';
/** Compiled folder → its sources. A compiled test whose source is gone is left over from an earlier build. */
const TEST_FOLDERS = [
  { built: 'dist', source: 'src' },
  { built: 'dist/examples', source: 'examples' },
  { built: 'dist-test/test', source: 'test' },
  { built: 'scripts', source: 'scripts' },
];
const STEPS = [
  {
    name: 'format and lint (biome check)',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  },
  { name: 'import directions (scripts/checkImports.mjs)', args: ['scripts/checkImports.mjs'] },
];

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    browser: { type: 'boolean', default: false },
    'no-lint': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    timeout: { type: 'string', default: String(DEFAULT_TIMEOUT) },
    concurrency: { type: 'string' },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  },
});
const root = options.root;
const abort = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => abort.abort());

/** Paths relative to the root, with `/`, sorted. */
function testFiles() {
  const files = TEST_FOLDERS.flatMap(({ built, source }) => {
    if (!existsSync(join(root, built))) return [];
    return readdirSync(join(root, built), { recursive: true, encoding: 'utf8' })
      .map((path) => path.split(sep).join('/'))
      .filter((path) => /\.test\.m?js$/.test(path) && hasSource(join(root, source, path)))
      .map((path) => `${built}/${path}`);
  });
  return files
    .filter((file) => file.startsWith(BROWSER_TESTS) === options.browser)
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)))
    .sort();
}

function hasSource(path) {
  const stem = path.replace(/\.m?js$/, '');
  return ['.ts', '.tsx', '.js', '.mjs'].some((extension) => existsSync(stem + extension));
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
    const place = where === '' ? file : relative(root, where.replace(/^file:\/\//, ''));
    console.log(`\nFAILED ${name}\n  in ${place}\n${error.trimEnd().replace(/^/gm, '  ')}`);
  }
  if (failures.length > 0 && output.trim() !== '') {
    console.log(`  it printed:\n${output.trimEnd().replace(/^/gm, '  | ')}`);
  }
}

async function main() {
  const total = { passed: 0, skipped: 0, failed: 0 };
  const add = (name, result) => {
    report(name, result);
    total.passed += result.passed;
    total.skipped += result.skipped;
    total.failed += result.failures.length;
  };
  if (!options['no-lint'] && !options.browser && patterns.length === 0) {
    for (const step of STEPS) add(step.name, await runStep(step));
  }
  const files = testFiles();
  const queue = [...files];
  const lane = async () => {
    for (let file = queue.shift(); file !== undefined && !abort.signal.aborted; file = queue.shift()) {
      add(
        file,
        await runTestFile(join(root, file), {
          cwd: root,
          timeout: Number(options.timeout),
          signal: abort.signal,
        }),
      );
    }
  };
  // Tests measure times and start workers of their own: more lanes than cores only make them wait for each other.
  const lanes = Number(options.concurrency ?? (options.browser ? 1 : Math.min(4, availableParallelism())));
  await Promise.all(Array.from({ length: lanes }, lane));
  if (files.length === 0) {
    total.failed += 1;
    console.log('FAILED no test file was found. Is the project built? npm run build');
  }
  if (abort.signal.aborted) {
    total.failed += 1;
    console.log('FAILED the run was interrupted');
  }
  console.log(`${files.length} test files on Node ${process.version}, ${(performance.now() / 1000) | 0} s`);
  const skipped = total.skipped === 0 ? '' : `, ${total.skipped} skipped`;
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

await main();

// Runs test files in a new process group, and reads the events of node:test. All processes that a test started end with
// the group.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Beginning of the names under which tests import single modules, see `imports` in package.json. */
const INTERNAL = '#internal/';
const REPORTER = new URL('testEvents.mjs', import.meta.url).href;
const BATCH = fileURLToPath(new URL('testBatch.mjs', import.meta.url));
/** Number of last characters of a file's output that are kept. The end shows why a process died. */
const MAX_OUTPUT = 20_000;
/** Milliseconds to wait for remaining output after the process ended. */
const REMAINING_OUTPUT_MS = 1000;
/** Signal on which clusters in a test's process print their state, see the setting `dump-signal`. */
const DUMP_SIGNAL = 'SIGUSR2';
/** Matches the lines of a brief dump, which follow the whole dump. */
const BRIEF_LINES = /^longpole: .*\n/gm;
const WHOLE_DUMP = /^Longpole: state of the cluster [\s\S]*?^}\n/gm;
/**
 * Milliseconds to wait for a dump. A dump requests the stack of each thread, which takes seconds if the thread does not
 * answer.
 */
const DUMP_MS = 15_000;

/**
 * @typedef {object} FileResult
 * @property {number} passed
 * @property {number} skipped
 * @property {{ name: string, where: string, error: string }[]} failures
 * @property {string} output what the file printed, the last 20,000 characters
 * @property {number} seconds
 */

/**
 * @param {string[]} files absolute paths; several of them share one process
 * @param {{ cwd: string, timeout: number, env: NodeJS.ProcessEnv, signal?: AbortSignal }} options `timeout` in seconds
 * @returns {Promise<FileResult[]>} one result per file
 */
export async function runTestFiles(files, { cwd, timeout, env, signal }) {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-test-'));
  const events = join(folder, 'events.jsonl');
  try {
    const exit = await runProcess(files, {
      cwd,
      timeout,
      signal,
      env: { ...env, LONGPOLE_TEST_EVENTS: events, LONGPOLE_DUMP_SIGNAL: DUMP_SIGNAL },
    });
    return summariseAll(files.length, exit, existsSync(events) ? readFileSync(events, 'utf8') : '', timeout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Whether a compiled test, or a file that it imports, imports single modules of the package. It must not import the bundle
 * as well, which has copies of them. The bundle starts faster: an isolate needs half the CPU. Support for tests that
 * imports no other module is in no bundle.
 */
export function importsModules(file, root, seen = new Set()) {
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const imported = importsOf(file).map((path) =>
    path.startsWith(INTERNAL)
      ? join(root, 'dist', path.slice(INTERNAL.length))
      : resolve(dirname(file), path),
  );
  if (file.split(sep).includes('dist')) return !file.endsWith('.test.support.js') || imported.length > 0;
  return imported.some((path) => importsModules(path, root, seen));
}

/** Returns what a file imports from the package, without Node's modules and other packages. */
function importsOf(file) {
  const text = readFileSync(file, 'utf8');
  return Array.from(
    text.matchAll(/(?: from |\bimport |\bimport\()'((?:\.|#internal\/)[^']+)'/g),
    ([, path]) => path,
  );
}

function runProcess(files, { cwd, timeout, signal, env }) {
  const args = [
    ...(files.some((file) => importsModules(file, cwd)) ? ['--conditions=longpole-modules'] : []),
    `--test-reporter=${REPORTER}`,
    '--test-reporter-destination=stdout',
    ...(files.length === 1 ? files : [BATCH, ...files]),
  ];
  const started = performance.now();
  // Starts a new process group, so that a kill of the negative id reaches children that a test forgot.
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (text) => {
    output = (output + text).slice(-MAX_OUTPUT);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  return new Promise((resolve, reject) => {
    let hung = false;
    let where = '';
    let dumping;
    const timer = setTimeout(async () => {
      hung = true;
      where = await statesOf(child.pid);
      if (handles(child.pid, DUMP_SIGNAL)) {
        child.kill(DUMP_SIGNAL);
        dumping = setTimeout(() => killGroup(child.pid), DUMP_MS);
      } else killGroup(child.pid);
    }, timeout * 1000);
    const abort = () => killGroup(child.pid);
    signal?.addEventListener('abort', abort, { once: true });
    child.once('error', reject);
    child.once('exit', (code, killedBy) => {
      clearTimeout(timer);
      clearTimeout(dumping);
      signal?.removeEventListener('abort', abort);
      killGroup(child.pid);
      const seconds = (performance.now() - started) / 1000;
      // The pipes close when everything in them has arrived. A grandchild outside the group may hold them open for
      // ever.
      const giveUp = () => {
        child.stdout.destroy();
        child.stderr.destroy();
      };
      // If this process was suspended, the timer is late. `setImmediate` reads the output that arrived meanwhile
      // first.
      const held = setTimeout(() => setImmediate(giveUp), REMAINING_OUTPUT_MS);
      child.once('close', () => {
        clearTimeout(held);
        resolve({ code, killedBy, hung, where, output, seconds });
      });
    });
  });
}

/**
 * Describes the threads of a process group, to show what a hanging test waits for. Returns nothing before the first
 * build.
 */
async function statesOf(group) {
  try {
    const { listDirectory, procStat, readProc, threadStates } = await import(
      '../../dist/resources/processTree.js'
    );
    const commandOf = (pid) =>
      (readProc(`${pid}/cmdline`) ?? '').split('\0').slice(0, 4).join(' ').slice(0, 120);
    return listDirectory('/proc')
      .filter((pid) => Number(procStat(pid)?.(5)) === group)
      .flatMap((pid) => [`${pid} ${commandOf(pid)}`, ...threadStates(pid).map((line) => `  ${line}`)])
      .join('\n');
  } catch {
    return '';
  }
}

/** Returns whether a process has a listener for a signal, which would otherwise end it. Works on Linux only. */
function handles(pid, signal) {
  try {
    const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${caught}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Divides the events among the files. The exit of the process counts for the file that ran last. */
function summariseAll(count, exit, text, timeout) {
  const parts = [{ events: [], seconds: 0 }];
  let begun = 0;
  let failed = false;
  for (const line of text.split('\n').filter((line) => line.endsWith('}'))) {
    const event = JSON.parse(line);
    failed ||= event.type === 'failed';
    if (event.type !== 'file-ended') parts.at(-1).events.push(event);
    else {
      parts.at(-1).seconds = (event.at - begun) / 1000;
      begun = event.at;
      if (parts.length < count) parts.push({ events: [], seconds: 0 });
    }
  }
  const last = parts.at(-1);
  last.seconds ||= exit.seconds - begun / 1000;
  // A failed test already explains the exit code.
  const end = failed ? { ...exit, code: 0 } : exit;
  const passed = { ...end, code: 0, killedBy: null, hung: false };
  const results = parts.map((part) =>
    summarise({ ...(part === last ? end : passed), seconds: part.seconds }, part.events, timeout),
  );
  const notRun = { name: 'the file did not run', where: '', error: 'The process ended in a file before it.' };
  while (results.length < count)
    results.push({ passed: 0, skipped: 0, failures: [notRun], output: '', seconds: 0 });
  return results;
}

/** @returns {FileResult} */
function summarise({ code, killedBy, hung, where, output, seconds }, events, timeout) {
  const count = (type) => events.filter((event) => event.type === type).length;
  const failures = events.filter((event) => event.type === 'failed');
  const done = count('passed') + count('skipped') + failures.length;
  const fail = (name, error) => failures.push({ name, where: '', error });
  if (hung) {
    fail(
      'the file hung',
      `Killed after ${timeout} s. ${done} tests were done; running: ${running(events)}\n${(output.match(BRIEF_LINES) ?? []).join('')}${where}`,
    );
  } else if (killedBy !== null) {
    fail('the process was killed', `by ${killedBy}, after ${done} tests; running: ${running(events)}`);
  } else if (code !== 0 && failures.length === 0) {
    fail('the process failed', `exit code ${code}, after ${done} tests`);
  } else if (done === 0) {
    fail('no tests', 'The file ended without running a test.');
  }
  // Logs truncate long texts.
  const rest = hung ? output.replace(WHOLE_DUMP, '').replace(BRIEF_LINES, '') : output;
  return { passed: count('passed'), skipped: count('skipped'), failures, output: rest, seconds };
}

/** Returns tests that started and did not report an end. Suites have no end event, so they may be among them. */
function running(events) {
  const open = new Map();
  for (const { type, name } of events) open.set(name, (open.get(name) ?? 0) + (type === 'started' ? 1 : -1));
  const names = [...open].filter(([, count]) => count > 0).map(([name]) => name);
  return names.length === 0 ? 'none (an open handle or a child process keeps it alive)' : names.join(', ');
}

// `node dist-test/bench/findingsTable.js` checks that the right finding comes first, with the right seconds, while
// other programs keep every core busy. It runs workloads with a known bottleneck, and healthy ones, which must not
// cause a false alarm. Writes docs/findings-table.md.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { criticalPath, type Finding, type FindingCode, findings } from 'longpole/analysis';
import { openTrace, type Trace } from 'longpole/trace';
import { firstStart } from '#internal/analysis/workerLives.js';
import { median } from './median.js';

const USAGE = `Usage: node dist-test/bench/findingsTable.js [options]

  --only A,B   workloads whose name contains one of these; the table is printed and not written
  --repeat N   recordings of each (default 5)
  --burners N  processes that keep a core busy meanwhile (default: one per core)
  --keep DIR   keeps the recordings in this folder
  --again DIR  analyses the recordings of this folder instead of making new ones
`;
/** Permitted relative error of the seconds. */
const TARGET = 0.2;

interface Options {
  readonly only: readonly string[];
  readonly repeat: number;
  readonly burners: number;
  /** Holds the recordings. */
  readonly folder: string;
  /** True if the folder has the recordings already. */
  readonly isAgain: boolean;
}

interface Provoked {
  readonly name: string;
  /** Findings of which one must come first. */
  readonly codes: readonly FindingCode[];
  /**
   * Returns the true cost in seconds, from the times of the tasks or as reported by the program. Undefined if it is
   * unknown.
   */
  truth?(run: Recording): number;
}

interface Recording {
  readonly trace: Trace;
  /** Seconds that the program printed; NaN: none. */
  readonly reported: number;
  /** Mean number of processes that wanted a core in the minute before the end of the recording. */
  readonly load: number;
}

/** Returns the seconds of the tasks of a prefix, on all workers or on one. */
function sum({ trace: { tasks, strings } }: Recording, prefix: string, worker?: number): number {
  let seconds = 0;
  for (let row = 0; row < tasks.length; row++) {
    const isWanted = tasks.prefix[row]! >= 0 && strings.get(tasks.prefix[row]!) === prefix;
    if (isWanted && (worker === undefined || tasks.worker[row] === worker)) seconds += tasks.duration[row]!;
  }
  return seconds;
}

/** Returns the seconds from the first start of a task to the end. */
function active({ trace }: Recording): number {
  return criticalPath(trace).stop - firstStart(trace);
}

/** Returns the seconds of the critical path in which profilers started, which are no cost of the program. */
function profiling({ trace }: Recording): number {
  return criticalPath(trace).byKind.find(({ kind }) => kind === 'profiler')?.seconds ?? 0;
}

/** Returns the seconds by which the busier worker ends after the time at which both could have ended. */
function skewed(run: Recording): number {
  const { worker, started } = run.trace.tasks;
  const begin = (which: number): number =>
    started.reduce((first, time, row) => (worker[row] === which ? Math.min(first, time) : first), Infinity);
  return Math.abs(begin(0) + sum(run, 'mixed', 0) - begin(1) - sum(run, 'mixed', 1)) / 2;
}

const coreWait = ({ trace }: Recording): number =>
  trace.tasks.coreWait.reduce((all, seconds) => all + (seconds || 0), 0);

const PROVOKED: readonly Provoked[] = [
  // There are twenty rounds on two threads, and no task waits during the last one.
  { name: 'blocked tasks', codes: ['synchronous-io'], truth: () => 0.95 },
  { name: 'awaiting tasks', codes: ['asynchronous-wait'], truth: () => 1 },
  { name: 'contended lock', codes: ['lock-contention'], truth: ({ reported }) => reported },
  // One of two threads is idle for 1.2 s. Waits for a core do not count.
  { name: 'serial tail', codes: ['serial-tail'], truth: () => 0.6 },
  { name: 'serial stretch', codes: ['serial-stretch'], truth: () => 0.6 },
  { name: 'one straggler', codes: ['stragglers'], truth: () => 1.485 },
  {
    name: 'skewed workers',
    codes: ['worker-skew'],
    truth: skewed,
  },
  { name: 'a chain', codes: ['lack-of-parallelism'], truth: (run) => sum(run, 'step') / 2 },
  { name: 'one by one', codes: ['lack-of-parallelism'], truth: (run) => sum(run, 'step') / 2 },
  { name: 'program between results', codes: ['client-bound'], truth: () => 1.2 },
  {
    name: 'blocked event loop',
    codes: ['event-loop-starvation'],
    truth: (run) => active(run) - sum(run, 'step'),
  },
  {
    name: 'tiny tasks',
    codes: ['tasks-too-small'],
    truth: (run) => active(run) - profiling(run) - sum(run, 'noop') / 2,
  },
  { name: 'needless gather', codes: ['gathered-results'], truth: ({ reported }) => reported },
  { name: 'large arguments', codes: ['oversized-arguments'] },
  { name: 'much garbage', codes: ['garbage-collection'] },
  { name: 'short memory', codes: ['memory-bound', 'spill-bound'] },
  { name: 'a lost worker', codes: ['lost-work'] },
  { name: 'other programs', codes: ['cpu-oversubscription'], truth: (run) => coreWait(run) / 2 },
];

/** Name → true findings. Two more are true of every workload here: a shortage of cores and busy workers. */
const HEALTHY: Readonly<Record<string, readonly FindingCode[]>> = {
  'blocked map': ['synchronous-io'],
  'awaiting map': ['asynchronous-wait'],
  'mixed map': [],
  'computing map': [],
  'two stages': [],
  'a tree': [],
  'two chains': [],
  'shared buffer': [],
  'small gather': [],
  'a late worker': [],
};
const ALWAYS_TRUE: readonly FindingCode[] = ['cpu-oversubscription', 'worker-bound'];

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const directoryOf = (name: string, run: number, { folder }: Options): string =>
  join(folder, `${name.replaceAll(' ', '-')}-${run}.trace`);

/** Records a program. The file of its facts is missing if the program failed. */
async function record(name: string, run: number, options: Options): Promise<void> {
  const directory = directoryOf(name, run, options);
  rmSync(directory, { recursive: true, force: true });
  rmSync(`${directory}.json`, { force: true });
  const program = path('dist-test/bench/findingsProgram.js');
  const args = ['run', '--no-dashboard', '--trace', directory, program, name];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [path('dist/bundle/main.js'), ...args]);
    const load = loadavg()[0] ?? Number.NaN;
    writeFileSync(`${directory}.json`, JSON.stringify([stdout.trim(), load]));
    console.log(`${run + 1}: ${name} recorded, load ${load.toFixed(1)}`);
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error));
  }
}

/** Returns undefined if the program failed. */
function opened(name: string, run: number, options: Options): Recording | undefined {
  const directory = directoryOf(name, run, options);
  if (!existsSync(`${directory}.json`)) return undefined;
  const [text, load]: unknown[] = JSON.parse(readFileSync(`${directory}.json`, 'utf8'));
  const reported = text === '' ? Number.NaN : Number(text);
  return { trace: openTrace(directory), reported, load: Number(load) };
}

interface Row {
  readonly name: string;
  readonly expected: string;
  readonly good: number;
  readonly runs: number;
  readonly truth: number;
  readonly found: number;
  readonly others: ReadonlyMap<string, number>;
  /** Load of each recording. */
  readonly loads: readonly number[];
}

function count(others: Map<string, number>, name: string): void {
  others.set(name, (others.get(name) ?? 0) + 1);
}

/** Yields the recordings of successful runs, and counts the others. */
function* recordings(
  name: string,
  options: Options,
  others: Map<string, number>,
): IterableIterator<Recording> {
  for (let run = 0; run < options.repeat; run++) {
    const recording = opened(name, run, options);
    if (recording === undefined) count(others, 'program failed');
    else yield recording;
  }
}

function provoke({ name, codes, truth }: Provoked, options: Options): Row {
  const others = new Map<string, number>();
  const loads: number[] = [];
  const [truths, costs]: [number[], number[]] = [[], []];
  let good = 0;
  for (const recording of recordings(name, options, others)) {
    const all = findings(recording.trace);
    const [first] = all;
    const isFirst = first !== undefined && codes.includes(first.code);
    if (!isFirst) count(others, first?.code ?? 'nothing');
    const real = truth?.(recording) ?? Number.NaN;
    if (isFirst) {
      truths.push(real);
      costs.push(first.seconds);
    }
    if (isFirst && !(Math.abs(first.seconds / real - 1) > TARGET)) good++;
    loads.push(recording.load);
    console.log(
      `${name.padEnd(24)} truth ${real.toFixed(2)} s, found ${listOf(all)}, load ${recording.load.toFixed(1)}`,
    );
  }
  return {
    name,
    expected: codes.join(' or '),
    good,
    runs: options.repeat,
    truth: middle(truths),
    found: middle(costs),
    others,
    loads,
  };
}

const listOf = (all: readonly Finding[]): string =>
  all.map(({ code, seconds }) => `${code} ${seconds.toFixed(2)} s`).join(', ') || 'nothing';
const middle = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : median([...values]);

function watch(name: string, allowed: readonly FindingCode[], options: Options): Row {
  const others = new Map<string, number>();
  const loads: number[] = [];
  let good = 0;
  for (const recording of recordings(name, options, others)) {
    const alarms = findings(recording.trace).filter(
      ({ code }) => !allowed.includes(code) && !ALWAYS_TRUE.includes(code),
    );
    for (const { code } of alarms) count(others, code);
    if (alarms.length === 0) good++;
    loads.push(recording.load);
    console.log(
      `${name.padEnd(24)} ${alarms.length === 0 ? 'no false alarm' : listOf(alarms)}, load ${recording.load.toFixed(1)}`,
    );
  }
  return {
    name,
    expected: allowed.join(', '),
    good,
    runs: options.repeat,
    truth: Number.NaN,
    found: Number.NaN,
    others,
    loads,
  };
}

const seconds = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(2)} s`);
const listed = (others: Row['others']): string =>
  [...others].map(([code, count]) => `\`${code}\` ${count}×`).join(', ');

function loadText(rows: readonly Row[]): string {
  const loads = rows.flatMap((row) => row.loads);
  return `${Math.min(...loads).toFixed(0)} to ${Math.max(...loads).toFixed(0)}`;
}

function page(provoked: readonly Row[], healthy: readonly Row[], burners: number): string {
  const all = (rows: readonly Row[]): string => {
    const [good, runs] = [
      rows.reduce((sum, row) => sum + row.good, 0),
      rows.reduce((sum, row) => sum + row.runs, 0),
    ];
    return `${good} of ${runs} runs`;
  };
  return `# Does the right finding come first?

Workloads with a known bottleneck, recorded on ${availableParallelism()} cores${burners === 0 ? '' : ` while ${burners} other programs kept one core busy each`}.
\`node dist-test/bench/findingsTable.js\` writes this page; \`--help\` lists its options. A run is right if the expected finding
comes first and its seconds are within ${100 * TARGET} % of the true ones, if these are known from the times of the tasks.
During the recordings, ${loadText([...provoked, ...healthy])} processes wanted a core.

Right: ${all(provoked)}.

| workload | expected first | right | true seconds | found seconds | other findings first |
| --- | --- | --- | --- | --- | --- |
${provoked
  .map(
    ({ name, expected, good, runs, truth, found, others }) =>
      `| ${name} | \`${expected}\` | ${good} of ${runs} | ${seconds(truth)} | ${seconds(found)} | ${listed(others)} |`,
  )
  .join('\n')}

Two findings are true of every healthy workload here: \`cpu-oversubscription\` and \`worker-bound\`. Any other finding that is not
in the table is a false alarm.

Without a false alarm: ${all(healthy)}.

| workload | true findings | right | false alarms |
| --- | --- | --- | --- |
${healthy.map(({ name, expected, good, runs, others }) => `| ${name} | ${expected === '' ? '' : `\`${expected}\``} | ${good} of ${runs} | ${listed(others)} |`).join('\n')}
`;
}

/** Records every program, in turns, while other programs keep cores busy. */
async function recordAll(names: readonly string[], options: Options): Promise<void> {
  const busy = Array.from({ length: options.burners }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      for (const burner of busy) burner.kill();
      process.exit(1);
    });
  try {
    for (let run = 0; run < options.repeat; run++) for (const name of names) await record(name, run, options);
  } finally {
    for (const burner of busy) burner.kill();
  }
}

/** Writes a page, with its tables aligned. */
async function write(file: string, text: string): Promise<void> {
  writeFileSync(file, text);
  const biome = path('node_modules/@biomejs/biome/bin/biome');
  await promisify(execFile)(process.execPath, [biome, 'format', '--write', file], { cwd: path('') });
}

async function main(options: Options): Promise<void> {
  const isWanted = (name: string): boolean => options.only.some((part) => name.includes(part));
  const provoked = PROVOKED.filter(({ name }) => isWanted(name));
  const healthy = Object.entries(HEALTHY).filter(([name]) => isWanted(name));
  if (!options.isAgain)
    await recordAll([...provoked.map(({ name }) => name), ...healthy.map(([name]) => name)], options);
  const text = page(
    provoked.map((one) => provoke(one, options)),
    healthy.map(([name, allowed]) => watch(name, allowed, options)),
    options.burners,
  );
  if (options.only.includes('')) await write(path('docs/findings-table.md'), text);
  console.log(text);
}

/** Returns a folder for recordings that is removed at the end. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-findings-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '5' },
    burners: { type: 'string', default: String(availableParallelism()) },
    keep: { type: 'string' },
    again: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(USAGE);
else {
  await main({
    only: values.only.split(','),
    repeat: Number(values.repeat),
    burners: Number(values.burners),
    folder: values.again ?? values.keep ?? temporaryFolder(),
    isAgain: values.again !== undefined,
  });
}

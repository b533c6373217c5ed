// `node dist-test/bench/findingsTable.js` checks that the right finding comes first, with the right seconds, while
// other programs keep every core busy. It runs workloads with a known bottleneck, and healthy ones, which must not
// cause a false alarm. Writes docs/findings-table.md.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { criticalPath, type Finding, type FindingCode, findings } from 'longpole/analysis';
import { openTrace, type Trace } from 'longpole/trace';
import { firstStart } from '#internal/analysis/workerStarts.js';
import { median } from './median.js';

const USAGE = `Usage: node dist-test/bench/findingsTable.js [options]

  --only A,B   workloads whose name contains one of these; the table is printed and not written
  --repeat N   recordings of each (default 5)
  --burners N  processes that keep a core busy meanwhile (default: one per core)
`;
/** Permitted relative error of the seconds. */
const TARGET = 0.2;

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

const coreWait = ({ trace }: Recording): number =>
  trace.tasks.coreWait.reduce((all, seconds) => all + (seconds || 0), 0);

const PROVOKED: readonly Provoked[] = [
  // There are twenty rounds on two threads, and no task waits during the last one.
  { name: 'blocked tasks', codes: ['synchronous-io'], truth: () => 0.95 },
  { name: 'awaiting tasks', codes: ['asynchronous-wait'], truth: () => 1 },
  { name: 'serial tail', codes: ['serial-tail'], truth: (run) => sum(run, 'step') / 2 },
  { name: 'serial stretch', codes: ['serial-stretch'], truth: (run) => sum(run, 'step') / 2 },
  { name: 'one straggler', codes: ['stragglers'], truth: () => 1.485 },
  {
    name: 'skewed workers',
    codes: ['worker-skew'],
    truth: (run) => Math.abs(sum(run, 'mixed', 0) - sum(run, 'mixed', 1)) / 2,
  },
  { name: 'a chain', codes: ['lack-of-parallelism'], truth: (run) => sum(run, 'step') / 2 },
  { name: 'one by one', codes: ['lack-of-parallelism'], truth: (run) => sum(run, 'step') / 2 },
  { name: 'program between results', codes: ['client-bound'], truth: () => 1.2 },
  {
    name: 'blocked event loop',
    codes: ['event-loop-starvation'],
    truth: (run) => active(run) - sum(run, 'step'),
  },
  { name: 'tiny tasks', codes: ['tasks-too-small'], truth: (run) => active(run) - sum(run, 'noop') / 2 },
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
const folder = mkdtempSync(join(tmpdir(), 'longpole-findings-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Records a program. Returns a text if the program failed. */
async function record(name: string): Promise<Recording | string> {
  const directory = join(folder, 'run.trace');
  rmSync(directory, { recursive: true, force: true });
  const program = path('dist-test/bench/findingsProgram.js');
  const run = ['run', '--no-dashboard', '--trace', directory, program, name];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [path('dist/bundle/main.js'), ...run]);
    return { trace: openTrace(directory), reported: Number(stdout.trim() || Number.NaN) };
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error));
    return 'program failed';
  }
}

interface Row {
  readonly name: string;
  readonly expected: string;
  readonly good: number;
  readonly runs: number;
  readonly truth: number;
  readonly found: number;
  readonly others: ReadonlyMap<string, number>;
}

function count(others: Map<string, number>, name: string): void {
  others.set(name, (others.get(name) ?? 0) + 1);
}

/** Yields the recordings of successful runs. `others` counts the reasons of the failed ones. */
async function* recordings(
  name: string,
  repeat: number,
  others: Map<string, number>,
): AsyncGenerator<Recording> {
  for (let run = 0; run < repeat; run++) {
    const recording = await record(name);
    if (typeof recording === 'string') count(others, recording);
    else yield recording;
  }
}

async function provoke({ name, codes, truth }: Provoked, repeat: number): Promise<Row> {
  const others = new Map<string, number>();
  const [truths, costs]: [number[], number[]] = [[], []];
  let good = 0;
  for await (const recording of recordings(name, repeat, others)) {
    const [first]: readonly Finding[] = findings(recording.trace);
    const isFirst = first !== undefined && codes.includes(first.code);
    if (!isFirst) count(others, first?.code ?? 'nothing');
    const real = truth?.(recording) ?? Number.NaN;
    if (isFirst) {
      truths.push(real);
      costs.push(first.seconds);
    }
    if (isFirst && !(Math.abs(first.seconds / real - 1) > TARGET)) good++;
    console.log(
      `${name.padEnd(24)} ${first?.code ?? 'nothing'} ${first?.seconds.toFixed(2)} s, truth ${real.toFixed(2)} s`,
    );
  }
  return {
    name,
    expected: codes.join(' or '),
    good,
    runs: repeat,
    truth: middle(truths),
    found: middle(costs),
    others,
  };
}

const middle = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : median([...values]);

async function watch(name: string, allowed: readonly FindingCode[], repeat: number): Promise<Row> {
  const others = new Map<string, number>();
  let good = 0;
  for await (const recording of recordings(name, repeat, others)) {
    const alarms = findings(recording.trace).filter(
      ({ code }) => !allowed.includes(code) && !ALWAYS_TRUE.includes(code),
    );
    for (const { code } of alarms) count(others, code);
    if (alarms.length === 0) good++;
    console.log(
      `${name.padEnd(24)} ${alarms.map(({ code, seconds }) => `${code} ${seconds.toFixed(2)} s`).join(', ') || 'no false alarm'}`,
    );
  }
  return {
    name,
    expected: allowed.join(', '),
    good,
    runs: repeat,
    truth: Number.NaN,
    found: Number.NaN,
    others,
  };
}

const seconds = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(2)} s`);
const listed = (others: Row['others']): string =>
  [...others].map(([code, count]) => `\`${code}\` ${count}×`).join(', ');

function page(provoked: readonly Row[], healthy: readonly Row[], burners: number): string {
  const all = (rows: readonly Row[]): string => {
    const [good, runs] = [
      rows.reduce((sum, row) => sum + row.good, 0),
      rows.reduce((sum, row) => sum + row.runs, 0),
    ];
    return `${good} of ${runs} runs`;
  };
  return `# Does the right finding come first?

Workloads with a known bottleneck, recorded on ${availableParallelism()} cores while ${burners} other programs kept one core busy each.
\`node dist-test/bench/findingsTable.js\` writes this page; \`--help\` lists its options. A run is right if the expected finding
comes first and its seconds are within ${100 * TARGET} % of the true ones, if these are known from the times of the tasks.

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

async function main(only: readonly string[], repeat: number, burners: number): Promise<void> {
  const isWanted = (name: string): boolean => only.some((part) => name.includes(part));
  const busy = Array.from({ length: burners }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const [provoked, healthy]: [Row[], Row[]] = [[], []];
  try {
    for (const one of PROVOKED) if (isWanted(one.name)) provoked.push(await provoke(one, repeat));
    for (const [name, allowed] of Object.entries(HEALTHY))
      if (isWanted(name)) healthy.push(await watch(name, allowed, repeat));
  } finally {
    for (const burner of busy) burner.kill();
  }
  const text = page(provoked, healthy, burners);
  if (only.includes('')) writeFileSync(path('docs/findings-table.md'), text);
  console.log(text);
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '5' },
    burners: { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(USAGE);
else await main(values.only.split(','), Number(values.repeat), Number(values.burners));

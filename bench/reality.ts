// `node dist-test/bench/reality.js` compares the simulator's predictions with real runs. Every example is recorded with
// one and with two workers, and each recording predicts the other. A function is also really made twice as fast, and
// back. Recordings alternate, and each is predicted from an adjacent one, because the drift of a shared machine exceeds
// the simulator's error. The medians give the error. The bands are judged by the share of single predictions that
// contain the measured value. Recordings are excluded if other programs took cores, or if another virtual machine
// slowed the cores down.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import {
  criticalPath,
  type FindingCode,
  findings,
  type SimulateOptions,
  type Simulation,
  scaling,
  simulate,
} from 'longpole/analysis';
import { openTrace, type Trace } from 'longpole/trace';
import { coreUseOf } from '#internal/analysis/coreUse.js';
import { CoreSpeed } from './coreSpeed.js';
import { median } from './median.js';

const USAGE = `Usage: node dist-test/bench/reality.js [options]

  --only A,B    programs whose name contains one of these
  --repeat N    recordings of each (default 3)
  --others X    cores that other programs may use during a recording (default 0.15)
  --slowed X    share of a recording in which cores may be slowed down from outside this machine (default 0.1;
                  1: all are taken, without waiting; take more then, e.g. --repeat 7)
  --million     a million tasks on a thousand workers instead
`;
/** Permitted error of a prediction, as a share of the makespan. */
const TARGET = 0.1;
/** Required share of single predictions whose band contains the measured value. */
const HONEST = 0.9;

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'longpole-reality-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Options for a run of a program. */
interface Variant {
  readonly name: string;
  readonly workers: number;
  readonly args: readonly string[];
}

/** Two variants of a program. `there` predicts the second from the first, and `back` the first from the second. */
interface Pair {
  readonly name: string;
  readonly program: string;
  readonly variants: readonly [Variant, Variant];
  readonly there: SimulateOptions;
  readonly back: SimulateOptions;
  /** True findings; any other is a false alarm. */
  readonly found: readonly FindingCode[];
}

function moreWorkers(
  name: string,
  program: string,
  args: readonly string[],
  found: readonly FindingCode[] = [],
  few = 1,
): Pair {
  const variant = (workers: number): Variant => ({ name: `${workers} workers`, workers, args });
  return {
    name,
    program,
    variants: [variant(few), variant(2 * few)],
    there: { workers: 2 * few },
    back: { workers: few },
    found,
  };
}

/** The shapes of bench/sleepingProgram.ts. */
const SLEEPING = ['map', 'chains', 'tree', 'stages', 'uneven', 'grid'];
/** Findings that are true of sleeping graphs, depending on the number of workers. */
const SLEEPING_FOUND: readonly FindingCode[] = [
  'synchronous-io',
  'serial-stretch',
  'lack-of-parallelism',
  'worker-bound',
  'cpu-oversubscription',
];

/**
 * Shapes that end with several tasks of which each needs the previous one, while one of two workers is idle: the last
 * of an odd number of chains, and the path to the root of the tree and to the last cell of the grid.
 */
const TAILED: readonly string[] = ['chains', 'tree', 'grid'];

/** Sleeping tasks need no core, so these predictions must hold while other programs are busy. */
const sleeping = (few: number): Pair[] =>
  SLEEPING.map((shape) => {
    const found: readonly FindingCode[] = TAILED.includes(shape)
      ? [...SLEEPING_FOUND, 'serial-tail']
      : SLEEPING_FOUND;
    return moreWorkers(`sleeping ${shape}`, 'dist-test/bench/sleepingProgram.js', [shape], found, few);
  });

const FIT_ROUNDS = 20_000_000;
/** Leaves of the tree, which has slightly more than a million tasks. */
const TREE_LEAVES = 940_000;

const PAIRS: readonly Pair[] = [
  // Some files are bundles and a thousand times as long as the others.
  moreWorkers(
    'parse-sources',
    'dist/examples/parse-sources/main.js',
    ['--page', join(folder, 'parse.html')],
    ['stragglers'],
  ),
  // One task combines the small factors of all blocks while the others wait.
  moreWorkers(
    'tsqr',
    'dist/examples/tsqr/main.js',
    ['--rows', '8000', '--columns', '600', '--page', join(folder, 'tsqr.html')],
    ['serial-stretch'],
  ),
  // Thousands of tasks of a millisecond, some a hundred times as long. Counts are maps, which are packed for the store,
  // and one task at the end finds the most frequent words.
  moreWorkers(
    'word-count',
    'dist/examples/word-count/main.js',
    ['--extension', '.js', 'node_modules'],
    ['stragglers', 'scheduler-bound', 'serialization-bound', 'serial-tail'],
  ),
  // The example with its defaults: 30 files, and most of the time is the start of workers.
  moreWorkers('word-count, docs', 'dist/examples/word-count/main.js', []),
  // A tenth of a second of work.
  moreWorkers('short word-count', 'dist/examples/word-count/main.js', ['--extension', '.md', 'node_modules']),
  // The tasks take 0.4 ms, less than a message to another worker, so that two workers are slower than one.
  moreWorkers(
    'pipeline',
    'dist/examples/pipeline/main.js',
    ['--output', folder],
    ['scheduler-bound', 'tasks-too-small'],
  ),
  {
    name: 'faster function',
    program: 'dist-test/bench/realityProgram.js',
    variants: [
      { name: 'slow', workers: 2, args: [String(FIT_ROUNDS)] },
      { name: 'fast', workers: 2, args: [String(FIT_ROUNDS / 2)] },
    ],
    there: { faster: { fit: 2 } },
    back: { faster: { fit: 0.5 } },
    found: [],
  },
  ...sleeping(1),
  ...sleeping(2),
];

/** A recording, with its start and stop in seconds since the epoch. */
interface Recording {
  readonly trace: Trace;
  readonly start: number;
  readonly stop: number;
}

async function record({ program }: Pair, { workers, args }: Variant): Promise<Recording> {
  const directory = join(folder, 'run.trace');
  rmSync(directory, { recursive: true, force: true });
  const run = ['run', '--no-dashboard', '--workers', String(workers), '--trace', directory, path(program)];
  const start = Date.now() / 1000;
  await promisify(execFile)(process.execPath, [path('dist/bundle/main.js'), ...run, ...args], {
    maxBuffer: 1 << 26,
  });
  return { trace: openTrace(directory), start, stop: Date.now() / 1000 };
}

/** Measured makespans of one variant, and the predictions for them from recordings of the other. */
interface Side {
  readonly seen: number[];
  readonly predicted: Prediction[];
}

type Prediction = Pick<Simulation, 'makespan' | 'low' | 'high'>;

const TRIES = 12;
/** Time limit for waiting for fast cores before each try, in seconds. */
const PATIENCE = 60;

interface Effort {
  /** Recordings of each variant. */
  readonly repeat: number;
  /** Number of cores that other programs may keep busy during a recording. */
  readonly quiet: number;
  /** Share of a recording in which cores may be slowed down. */
  readonly slowed: number;
}

const cores = new CoreSpeed();

/** Makes a recording that no other program has disturbed. Returns undefined after too many tries. */
async function recordQuietly(pair: Pair, variant: Variant, effort: Effort): Promise<Trace | undefined> {
  const leftOut = (why: string) => console.log(`${pair.name.padEnd(16)} ${variant.name} excluded: ${why}`);
  for (let tries = 1; tries <= TRIES; tries++) {
    // If every recording is accepted, waiting for fast cores is useless.
    if (effort.slowed < 1) await cores.untilFast(PATIENCE);
    const { trace, start, stop } = await record(pair, variant);
    const { others } = coreUseOf(trace);
    const slowed = cores.slowed(start, stop);
    if (others > effort.quiet) leftOut(`other programs kept ${others.toFixed(1)} cores busy`);
    else if (slowed > effort.slowed)
      leftOut(`cores were slowed down for ${(100 * slowed).toFixed(0)} % of the time`);
    else return trace;
  }
  return undefined;
}

/** Records both variants in turns. Returns the measured and the predicted makespans by variant. */
async function compare(
  pair: Pair,
  effort: Effort,
): Promise<{ readonly sides: readonly Side[]; readonly codes: Set<FindingCode> }> {
  const sides: Side[] = pair.variants.map(() => ({ seen: [], predicted: [] }));
  const codes = new Set<FindingCode>();
  for (let repetition = 0; repetition < effort.repeat; repetition++) {
    const traces: (Trace | undefined)[] = [];
    for (const variant of pair.variants) traces.push(await recordQuietly(pair, variant, effort));
    for (const [i, trace] of traces.entries()) {
      if (trace === undefined) continue;
      for (const { code } of findings(trace)) codes.add(code);
      const other = traces[1 - i];
      if (other === undefined) continue;
      sides[i]?.seen.push(criticalPath(trace).makespan);
      sides[i]?.predicted.push(simulate(other, i === 0 ? pair.back : pair.there));
    }
  }
  return { sides, codes };
}

/** Returns a prediction and the measured value as text, e.g. `4.11 s (3.6 to 4.6), 4.14 s measured: -0.8 %, inside`. */
function comparison({ makespan, low, high }: Prediction, seen: number): string {
  const error = (100 * (makespan / seen - 1)).toFixed(1);
  const where = low <= seen && seen <= high ? 'inside' : 'OUTSIDE THE BAND';
  return `${makespan.toFixed(2)} s (${low.toFixed(2)} to ${high.toFixed(2)}), ${seen.toFixed(2)} s measured: ${error} %, ${where}`;
}

interface Verdict {
  readonly isGood: boolean;
  readonly predictions: number;
  readonly inside: number;
  /** Error of each single prediction, and half the width of its band, as shares of the measured value. */
  readonly errors: readonly number[];
  readonly bands: readonly number[];
}

async function report(pair: Pair, effort: Effort): Promise<Verdict> {
  const { sides, codes } = await compare(pair, effort);
  const verdict = { isGood: true, predictions: 0, inside: 0 };
  const [errors, bands]: [number[], number[]] = [[], []];
  for (const [i, { seen, predicted }] of sides.entries()) {
    const names = [pair.variants[1 - i]?.name, pair.variants[i]?.name].join(' → ');
    const title = `${pair.name.padEnd(16)} ${names.padEnd(22)}`;
    for (const [at, prediction] of predicted.entries()) {
      const real = seen[at] ?? Number.NaN;
      verdict.predictions += 1;
      errors.push(Math.abs(prediction.makespan / real - 1));
      bands.push((prediction.high - prediction.low) / 2 / real);
      if (prediction.low <= real && real <= prediction.high) verdict.inside += 1;
      console.log(`${title} ${comparison(prediction, real)}`);
    }
    const error = median(predicted.map(({ makespan }) => makespan)) / median(seen) - 1;
    // The error is NaN if every recording was disturbed.
    const met = Math.abs(error) <= TARGET;
    verdict.isGood &&= met;
    console.log(`${title} of the medians: ${(100 * error).toFixed(1)} %${met ? '' : ', TOO FAR'}`);
  }
  const alarms = [...codes].filter((code) => !pair.found.includes(code));
  console.log(`${pair.name.padEnd(16)} found: ${[...codes].join(', ') || 'nothing'}`);
  if (alarms.length > 0) console.log(`${pair.name.padEnd(16)} FALSE ALARMS: ${alarms.join(', ')}`);
  return { ...verdict, errors, bands, isGood: verdict.isGood && alarms.length === 0 };
}

/** Compares every pair, and prints the share of correct single predictions. */
async function reality(pairs: readonly Pair[], effort: Effort): Promise<boolean> {
  const verdicts: Verdict[] = [];
  for (const pair of pairs) verdicts.push(await report(pair, effort));
  const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((all, verdict) => all + of(verdict), 0);
  const [inside, predictions] = [sum((one) => one.inside), sum((one) => one.predictions)];
  console.log(
    `${inside} of ${predictions} single predictions contain the measured value (${((100 * inside) / predictions).toFixed(0)} %, target ${100 * HONEST} %)`,
  );
  const percent = (shares: readonly number[]): string => `${(100 * median([...shares])).toFixed(1)} %`;
  const error = percent(verdicts.flatMap(({ errors }) => errors));
  const band = percent(verdicts.flatMap(({ bands }) => bands));
  console.log(`Median error of single predictions: ${error}; median band: ± ${band}`);
  return verdicts.every(({ isGood }) => isGood) && inside >= HONEST * predictions;
}

/** Records a tree of a million tasks and simulates it on many workers. */
async function million(): Promise<void> {
  const tree = moreWorkers('tree', 'dist-test/bench/realityProgram.js', ['tree', String(TREE_LEAVES)]);
  const { trace } = await record(tree, tree.variants[1]);
  if (trace.tasks.length < 1_000_000) throw new Error(`Only ${trace.tasks.length} tasks were recorded.`);
  const started = performance.now();
  const { makespan, busy } = simulate(trace, { workers: 1000 });
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${trace.tasks.length.toLocaleString('en')} tasks on 1,000 workers: ${makespan.toFixed(1)} s simulated in ${seconds.toFixed(2)} s (target 5 s), ${(100 * busy).toFixed(0)} % busy`,
  );
  const sweep = performance.now();
  const { rows, usefulWorkers } = scaling(trace, {
    workers: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
  });
  console.log(
    `1, 2, 4, … 4,096 workers: ${rows.length} numbers in ${((performance.now() - sweep) / 1000).toFixed(1)} s; useful workers: ${usefulWorkers}`,
  );
  if (seconds > 5) process.exitCode = 1;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '3' },
    others: { type: 'string', default: '0.15' },
    slowed: { type: 'string', default: '0.1' },
    million: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const only = values.only.split(',');
if (values.help) console.log(USAGE);
else if (values.million) await million();
else {
  const pairs = PAIRS.filter(({ name }) => only.some((part) => name.includes(part)));
  const { repeat, others, slowed } = values;
  const effort = { repeat: Number(repeat), quiet: Number(others), slowed: Number(slowed) };
  if (!(await reality(pairs, effort))) process.exitCode = 1;
}
cores.close();

// `node dist-test/bench/reality.js`: what the simulator predicts, beside what then really happens. Every example is recorded
// with one worker and with two, and each is predicted from the other; a function is really made twice as fast, and back.
//
// Recordings take turns, and each is predicted from the one beside it: the speed of a shared machine drifts from one to the
// next by more than the simulator is wrong. How far it is off is told by the medians; whether the bands are honest by every
// single prediction: of all of them, how many hold what was seen. Recordings during which other programs took cores, or
// somebody beside this machine slowed them down, are left out: they tell of those.
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
/** Of the makespan, by which a prediction may be wrong. */
const TARGET = 0.1;
/** Share of the single predictions whose band has to hold what was seen. */
const HONEST = 0.9;

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'longpole-reality-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** A way to run a program. */
interface Variant {
  readonly name: string;
  readonly workers: number;
  readonly args: readonly string[];
}

/** The second variant is predicted from the first by `there`, and the first from the second by `back`. */
interface Pair {
  readonly name: string;
  readonly program: string;
  readonly variants: readonly [Variant, Variant];
  readonly there: SimulateOptions;
  readonly back: SimulateOptions;
  /** Findings that are true of it; any other is a false alarm. */
  readonly found: readonly FindingCode[];
}

function moreWorkers(
  name: string,
  program: string,
  args: readonly string[],
  found: readonly FindingCode[] = [],
): Pair {
  const variant = (workers: number): Variant => ({ name: `${workers} workers`, workers, args });
  return {
    name,
    program,
    variants: [variant(1), variant(2)],
    there: { workers: 2 },
    back: { workers: 1 },
    found,
  };
}

const FIT_ROUNDS = 20_000_000;
/** With their sums of sixteen a million tasks and some more. */
const TREE_LEAVES = 940_000;

const PAIRS: readonly Pair[] = [
  // Some files are bundles, a thousand times as long as the others.
  moreWorkers(
    'parse-sources',
    'dist/examples/parse-sources/main.js',
    ['--page', join(folder, 'parse.html')],
    ['stragglers'],
  ),
  // The small factors of all blocks are combined by one task, while the others wait.
  moreWorkers(
    'tsqr',
    'dist/examples/tsqr/main.js',
    ['--rows', '8000', '--columns', '600', '--page', join(folder, 'tsqr.html')],
    ['serial-stretch'],
  ),
  // Thousands of files of a millisecond, some a hundred times as long. Counts are maps, which are packed to be kept, and the
  // most frequent words are found by one task at the end.
  moreWorkers(
    'word-count',
    'dist/examples/word-count/main.js',
    ['--extension', '.js', 'node_modules'],
    ['stragglers', 'scheduler-bound', 'serialization-bound', 'serial-tail'],
  ),
  // As the example is: 30 files, and most of it workers that start.
  moreWorkers('word-count, docs', 'dist/examples/word-count/main.js', []),
  // A tenth of a second of work.
  moreWorkers('short word-count', 'dist/examples/word-count/main.js', ['--extension', '.md', 'node_modules']),
  // Its tasks take 0.4 ms, less than it takes to tell another worker of them: with two workers it is slower than with one.
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
];

/** A recording, and between which seconds since the epoch it was made. */
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
  await promisify(execFile)(process.execPath, [path('dist/cli/main.js'), ...run, ...args], {
    maxBuffer: 1 << 26,
  });
  return { trace: openTrace(directory), start, stop: Date.now() / 1000 };
}

/** Of one variant: what was seen, and beside each what the recording of the other predicted for it. Seconds. */
interface Side {
  readonly seen: number[];
  readonly predicted: Prediction[];
}

type Prediction = Pick<Simulation, 'makespan' | 'low' | 'high'>;

const TRIES = 12;
/** Seconds to wait for fast cores before each try. */
const PATIENCE = 60;

interface Effort {
  /** Recordings of each variant. */
  readonly repeat: number;
  /** Cores that other programs of the machine may keep busy during a recording. */
  readonly quiet: number;
  /** Share of a recording in which cores may be slowed down. */
  readonly slowed: number;
}

const cores = new CoreSpeed();

/** A recording that nobody disturbed, on this machine or beside it; undefined if it never comes. */
async function recordQuietly(pair: Pair, variant: Variant, effort: Effort): Promise<Trace | undefined> {
  const leftOut = (why: string) => console.log(`${pair.name.padEnd(16)} ${variant.name} left out: ${why}`);
  for (let tries = 1; tries <= TRIES; tries++) {
    // Who takes recordings as they come need not wait for better ones.
    if (effort.slowed < 1) await cores.untilFast(PATIENCE);
    const { trace, start, stop } = await record(pair, variant);
    const { others } = coreUseOf(trace);
    const slowed = cores.slowed(start, stop);
    if (others > effort.quiet) leftOut(`other programs kept ${others.toFixed(1)} cores busy`);
    else if (slowed > effort.slowed)
      leftOut(`cores were slowed down for ${(100 * slowed).toFixed(0)} % of it`);
    else return trace;
  }
  return undefined;
}

/** Records both variants in turns; by variant, what was seen and what the other predicted for it. */
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

/** A prediction beside what was seen, e.g. `4.11 s (3.6 to 4.6), 4.14 s seen: -0.8 %, inside`. */
function told({ makespan, low, high }: Prediction, seen: number): string {
  const error = (100 * (makespan / seen - 1)).toFixed(1);
  const where = low <= seen && seen <= high ? 'inside' : 'OUTSIDE THE BAND';
  return `${makespan.toFixed(2)} s (${low.toFixed(2)} to ${high.toFixed(2)}), ${seen.toFixed(2)} s seen: ${error} %, ${where}`;
}

interface Verdict {
  readonly isGood: boolean;
  readonly predictions: number;
  readonly inside: number;
}

async function report(pair: Pair, effort: Effort): Promise<Verdict> {
  const { sides, codes } = await compare(pair, effort);
  const verdict = { isGood: true, predictions: 0, inside: 0 };
  for (const [i, { seen, predicted }] of sides.entries()) {
    const names = [pair.variants[1 - i]?.name, pair.variants[i]?.name].join(' → ');
    const title = `${pair.name.padEnd(16)} ${names.padEnd(22)}`;
    for (const [at, prediction] of predicted.entries()) {
      const real = seen[at] ?? Number.NaN;
      verdict.predictions += 1;
      if (prediction.low <= real && real <= prediction.high) verdict.inside += 1;
      console.log(`${title} ${told(prediction, real)}`);
    }
    const error = median(predicted.map(({ makespan }) => makespan)) / median(seen) - 1;
    // NaN where no recording was quiet.
    const met = Math.abs(error) <= TARGET;
    verdict.isGood &&= met;
    console.log(`${title} of the medians: ${(100 * error).toFixed(1)} %${met ? '' : ', TOO FAR'}`);
  }
  const alarms = [...codes].filter((code) => !pair.found.includes(code));
  console.log(`${pair.name.padEnd(16)} found: ${[...codes].join(', ') || 'nothing'}`);
  if (alarms.length > 0) console.log(`${pair.name.padEnd(16)} FALSE ALARMS: ${alarms.join(', ')}`);
  return { ...verdict, isGood: verdict.isGood && alarms.length === 0 };
}

/** Every pair, and in the end how many of all single predictions hold what was seen. */
async function reality(pairs: readonly Pair[], effort: Effort): Promise<boolean> {
  const verdicts: Verdict[] = [];
  for (const pair of pairs) verdicts.push(await report(pair, effort));
  const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((all, verdict) => all + of(verdict), 0);
  const [inside, predictions] = [sum((one) => one.inside), sum((one) => one.predictions)];
  console.log(
    `${inside} of ${predictions} single predictions hold what was seen (${((100 * inside) / predictions).toFixed(0)} %, target ${100 * HONEST} %)`,
  );
  return verdicts.every(({ isGood }) => isGood) && inside >= HONEST * predictions;
}

/** A tree of a million tasks, recorded here, on workers that are not. */
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
    `1, 2, 4, … 4,096 workers: ${rows.length} numbers in ${((performance.now() - sweep) / 1000).toFixed(1)} s; another worker is worth it up to ${usefulWorkers}`,
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

// `node dist-test/bench/dasf.js` measures DASF's three analyses in Longpole and, if Python has DASF, in DASF. Each
// repetition opens the files again, so that nothing is cached. DASF runs in a separate process in the same repetition,
// and ratios are computed within a repetition. As in the bench of the engines, the code is warmed up. The time of the
// first run is printed, too.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TraceAnalyser } from 'longpole/analysis';
import { EventProfiler, MultiEventDatabase } from 'longpole/trace';
import { writeEvents } from './dasfEvents.js';
import { median } from './median.js';

const USAGE = `Usage: node dist-test/bench/dasf.js [options]

  --trace FOLDER   a folder with NAME.msgpack files, read in the order of their names (default: events made up)
  --events N       how many events to make up (default 120000)
  --repeat N       repetitions after the warm-up (default 5)
  --python FILE    a Python that has DASF (default: .venv/bin/python, python3)
  --no-peers       Longpole alone
`;

const WARM_UP_SECONDS = 2;

interface Seconds {
  readonly open: number;
  readonly analyses: number;
}

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

function findPython(given: string | undefined): string | undefined {
  const candidates = given === undefined ? [path('.venv/bin/python'), 'python3'] : [given];
  return candidates.find((python) => {
    try {
      execFileSync(python, ['-c', 'import dasf.profile.analysis'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

function measureLongpole(files: readonly string[]): Seconds & { readonly events: number } {
  const start = performance.now();
  const analyser = new TraceAnalyser(new MultiEventDatabase(files.map((file) => new EventProfiler(file))));
  const opened = performance.now();
  const tables = [
    analyser.perFunctionBottleneck(),
    analyser.perTaskBottleneck(),
    analyser.perWorkerTaskBalance(),
  ];
  const end = performance.now();
  if (tables.some((table) => table.length === 0))
    throw new Error('An analysis has no rows: nothing was measured.');
  return {
    open: (opened - start) / 1000,
    analyses: (end - opened) / 1000,
    events: analyser.trace.eventCount,
  };
}

function measureDasf(python: string, files: readonly string[]): Seconds {
  const output = execFileSync(python, [path('bench/peers/dasf_analyses.py'), ...files], { encoding: 'utf8' });
  const seconds: Seconds = JSON.parse(output);
  return seconds;
}

function report(files: readonly string[], repeat: number, python: string | undefined): void {
  const first = measureLongpole(files);
  for (let seconds = 0; seconds < WARM_UP_SECONDS; ) {
    const { open, analyses } = measureLongpole(files);
    seconds += open + analyses;
  }
  const ours: Seconds[] = [];
  const theirs: Seconds[] = [];
  for (let repetition = 0; repetition < repeat; repetition++) {
    ours.push(measureLongpole(files));
    if (python !== undefined) theirs.push(measureDasf(python, files));
  }
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(
    `${first.events.toLocaleString('en')} events, ${(bytes / 1e6).toFixed(1)} MB, Node ${process.version}\n`,
  );
  console.log('| what | first, ms | median, ms | ns per event | DASF, ms | times faster | target |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  const whole = ({ open, analyses }: Seconds): number => open + analyses;
  for (const [what, secondsOf, target] of [
    ['open', ({ open }: Seconds) => open, ''],
    ['three analyses', ({ analyses }: Seconds) => analyses, '≥ 200'],
    ['open and analyse', whole, '≥ 50'],
  ] as const) {
    const own = median(ours.map(secondsOf));
    const ratios = theirs.map((dasf, i) => secondsOf(dasf) / secondsOf(ours[i] ?? dasf));
    const cells = [
      what,
      (secondsOf(first) * 1e3).toFixed(1),
      (own * 1e3).toFixed(1),
      ((own / first.events) * 1e9).toFixed(0),
      theirs.length === 0 ? '' : (median(theirs.map(secondsOf)) * 1e3).toFixed(0),
      theirs.length === 0 ? '' : median(ratios).toFixed(0),
      target,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  if (python === undefined) console.log('\nWithout DASF, which no Python on this machine has.');
}

function eventFiles(folder: string): string[] {
  return ['ResourceMonitor', 'TracePlugin']
    .map((name) => join(folder, `${name}-c096.msgpack`))
    .filter(existsSync);
}

const { values } = parseArgs({
  allowNegative: true,
  options: {
    trace: { type: 'string' },
    events: { type: 'string', default: '120000' },
    repeat: { type: 'string', default: '5' },
    python: { type: 'string' },
    peers: { type: 'boolean', default: true },
    help: { type: 'boolean', default: false },
  },
});
const repeat = Number(values.repeat);
const events = Number(values.events);
if (values.help || !(repeat >= 1) || !(events >= 100)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const python = values.peers ? findPython(values.python) : undefined;
const folder = values.trace ?? mkdtempSync(join(tmpdir(), 'longpole-bench-'));
try {
  if (values.trace === undefined) writeEvents(folder, events);
  report(eventFiles(folder), repeat, python);
} finally {
  if (values.trace === undefined) rmSync(folder, { recursive: true });
}

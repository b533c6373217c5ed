// `node dist-test/bench/traces.js` measures traces of ten million tasks. It measures the cost of recording, bytes per
// task on disk, time and memory of all analyses, and the cost of an event by the size of the trace. Every measurement
// has a separate process with its own caches and peak memory. Small traces are analysed several times and the last time
// counts, because compiling dominates the first.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `Usage: node dist-test/bench/traces.js [options]

  --tasks N       tasks of the largest trace; the others have a tenth and a hundredth (default 10000000)
  --keys STYLE    short: inc-123; tuple: ('inc-6649f9f2…', 123, 0) (default tuple)
  --events        also event files of DASF's form, of as many events: 330 bytes each (default: not)
  --folder DIR    where the traces are written (default: a temporary folder)
`;
const PROCESS = fileURLToPath(new URL('traceProcess.js', import.meta.url));

type Figures = Readonly<Record<string, number>>;
/** Subject, figure, target, and whether the target is met. */
type Row = readonly [string, string, string, string];

function measure(command: string, path: string, value: string): Figures {
  const output = execFileSync(process.execPath, [PROCESS, command, path, value], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const figures: Figures = JSON.parse(output);
  return figures;
}

const of = (figures: Figures | undefined, name: string): number => figures?.[name] ?? Number.NaN;
const row = (what: string, value: number, digits: number, most?: number): Row => [
  what,
  value.toFixed(digits),
  most === undefined ? '' : `≤ ${most}`,
  most === undefined ? '' : value <= most ? 'yes' : 'no',
];

/** Returns how often a trace of this size is analysed, until the JIT compilers have finished. */
const times = (events: number): string => String(events <= 200_000 ? 20 : events <= 2_000_000 ? 4 : 1);

function recordings(folder: string, sizes: readonly number[], keys: string): Row[] {
  const rows: Row[] = [];
  const perEvent: number[] = [];
  for (const tasks of sizes) {
    const path = join(folder, `${tasks}.trace`);
    const recorded = measure('record', path, `${tasks} ${keys}`);
    const analysed = measure('analyse', path, times(tasks));
    rmSync(path, { recursive: true });
    perEvent.push((of(analysed, 'total') / of(analysed, 'events')) * 1e9);
    const name = tasks.toLocaleString('en');
    rows.push(row(`all analyses of ${name} tasks, ns an event`, perEvent.at(-1) ?? 0, 0));
    if (tasks !== sizes.at(-1)) continue;
    rows.push(
      row('recording, µs an event: a task that ends, an edge', recordingCost(recorded, tasks), 2, 0.5),
      row('the same, a task that ends alone', (of(recorded, 'runs') / tasks) * 1e6, 2),
      row('on disk, bytes a task', of(recorded, 'bytes') / tasks, 1, 60),
      row(`all analyses of ${name} tasks, s`, of(analysed, 'total'), 1, 10),
      row('the same, peak memory, GB', of(analysed, 'peak') / 1e9, 2, 2),
    );
  }
  rows.push(row('largest to smallest cost of an event', spread(perEvent), 2, 1.5));
  return rows;
}

/** Returns the cost per event in µs. One task in a thousand has no edge. */
function recordingCost(recorded: Figures, tasks: number): number {
  return ((of(recorded, 'runs') + of(recorded, 'edges')) / (tasks * 1.999)) * 1e6;
}

function eventFiles(folder: string, sizes: readonly number[]): Row[] {
  const perEvent: number[] = [];
  const rows = sizes.map((events): Row => {
    const path = join(folder, `${events}`);
    mkdirSync(path, { recursive: true });
    measure('write-events', path, String(events));
    const analysed = measure('events', path, times(events));
    rmSync(path, { recursive: true });
    perEvent.push((of(analysed, 'total') / of(analysed, 'events')) * 1e9);
    return row(`event files, ${events.toLocaleString('en')} events: ns an event`, perEvent.at(-1) ?? 0, 0);
  });
  return [...rows, row('largest to smallest cost of an event in event files', spread(perEvent), 2, 1.5)];
}

/** Returns the ratio of the cost per event at the largest size to that at the smallest. */
function spread(perEvent: readonly number[]): number {
  return Math.max(...perEvent) / Math.min(...perEvent);
}

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000000' },
    keys: { type: 'string', default: 'tuple' },
    events: { type: 'boolean', default: false },
    folder: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const most = Number(values.tasks);
if (values.help || !(most >= 10_000) || !['short', 'tuple'].includes(values.keys)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const sizes = [most / 100, most / 10, most].map(Math.floor);
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'longpole-bench-'));
try {
  const rows = [
    ...recordings(folder, sizes, values.keys),
    ...(values.events ? eventFiles(folder, sizes) : []),
  ];
  console.log('| what | measured | target | met |\n| --- | --- | --- | --- |');
  for (const cells of rows) console.log(`| ${cells.join(' | ')} |`);
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true });
}

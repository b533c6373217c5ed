// `npm run bench` measures every engine on the same graph in one run. Each engine has a separate process and warms up
// alone. In each repetition the engines run one after the other, never two at once. Ratios are computed within a
// repetition, because the speed of a shared machine drifts.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Measurement } from './engine.js';
import { EngineClient } from './engineClient.js';
import { ROWS, type Row } from './rows.js';
import { formatSummary, formatTable, makeTable } from './table.js';

const USAGE = `Usage: npm run bench -- [options]

  --only A,B     rows whose id contains one of these (${ROWS.map((row) => row.id).join(', ')})
  --repeat N     repetitions (default 5)
  --tasks N      leaves of the tree (default 100000); chains have a tenth
  --no-peers     only Longpole
  --readme       write the table into bench/README.md and the README
`;
const ROOT = new URL('../../', import.meta.url);
const path = (name: string): string => fileURLToPath(new URL(name, ROOT));

const WARM_UP_SECONDS = 2;
const WAKE_UP_SECONDS = 0.3;

interface Settings {
  readonly rows: readonly Row[];
  readonly repeat: number;
  readonly tasks: number;
  readonly readme: boolean;
}

function readSettings(python: string | undefined): Settings | undefined {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      only: { type: 'string', default: '' },
      repeat: { type: 'string', default: '5' },
      tasks: { type: 'string', default: '100000' },
      peers: { type: 'boolean', default: true },
      readme: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.split(',');
  const rows = ROWS.filter((row) => only.some((part) => row.id.includes(part)))
    .filter((row) => values.peers || row.kind === 'own')
    .filter((row) => row.kind !== 'dask' || python !== undefined);
  const repeat = Number(values.repeat);
  const tasks = Number(values.tasks);
  if (rows.length === 0 || !(repeat >= 1) || !(tasks >= 10)) throw new RangeError(USAGE);
  return { rows, repeat, tasks, readme: values.readme };
}

/** Returns a Python with Dask: that of bench/setup-python.sh, or the system's. */
function findPython(): string | undefined {
  return [path('.venv/bin/python'), 'python3'].find((python) => {
    try {
      execFileSync(python, ['-c', 'import dask.diagnostics'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

function start(row: Row, python: string | undefined): Promise<EngineClient> {
  if (row.kind === 'dask')
    return EngineClient.start(python ?? '', [path('bench/peers/dask_bench.py'), row.id]);
  return EngineClient.start(process.execPath, [path('dist-test/bench/engineProcess.js'), row.id]);
}

async function measure(
  { rows, repeat, tasks }: Settings,
  python: string | undefined,
): Promise<Map<string, Measurement[]>> {
  const clients = new Map<Row, EngineClient>();
  const measurements = new Map<string, Measurement[]>();
  try {
    for (const row of rows) {
      const client = await start(row, python);
      clients.set(row, client);
      await warmUp(client, tasks * row.share);
      console.error(`warmed up ${row.id}`);
    }
    for (let repetition = 1; repetition <= repeat; repetition++) {
      for (const [row, client] of clients) {
        const list = measurements.get(row.id) ?? [];
        await wake(client, tasks * row.share);
        list.push(await client.run(tasks * row.share));
        measurements.set(row.id, list);
      }
      console.error(`repetition ${repetition} of ${repeat} done`);
    }
  } finally {
    for (const client of clients.values()) client.close();
  }
  return measurements;
}

/** Runs small graphs for a moment, because an idle engine has lost the processor's caches and some optimised code. */
async function wake(client: EngineClient, tasks: number): Promise<void> {
  let seconds = 0;
  while (seconds < WAKE_UP_SECONDS) seconds += (await client.run(Math.ceil(tasks / 10))).seconds;
}

/** Warms an engine up with at least two full runs and two seconds, until the JIT compilers have finished. */
async function warmUp(client: EngineClient, tasks: number): Promise<void> {
  let seconds = 0;
  for (let run = 0; run < 2 || seconds < WARM_UP_SECONDS; run++) seconds += (await client.run(tasks)).seconds;
}

function machine(python: string | undefined): Record<string, string> {
  const version = (name: string): string => {
    const { version }: { version: string } = JSON.parse(
      readFileSync(path(`node_modules/${name}/package.json`), 'utf8'),
    );
    return `${name} ${version}`;
  };
  const dask = (): string =>
    execFileSync(python ?? '', [
      '-c',
      'import dask, sys; print("Dask", dask.__version__, "on Python", sys.version.split()[0])',
    ])
      .toString()
      .trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores`,
    system: `${process.platform} ${release()}`,
    node: process.version,
    peers: [
      ...['piscina', 'poolifier', 'tinypool', 'workerpool'].map(version),
      python === undefined ? 'no Dask' : dask(),
    ].join(', '),
    load: loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
  };
}

/** Replaces the text between the comments `<!-- name -->` and `<!-- end of name -->` in a file. */
function writeBetween(name: string, file: string, text: string): void {
  const old = readFileSync(file, 'utf8');
  const parts = new RegExp(`^([\\s\\S]*<!-- ${name} -->\n)[\\s\\S]*(<!-- end of ${name} -->[\\s\\S]*)$`).exec(
    old,
  );
  if (parts === null) throw new Error(`${file} has no place for the ${name}.`);
  writeFileSync(file, `${parts[1]}\n${text}\n\n${parts[2]}`);
}

const python = findPython();
const settings = readSettings(python);
if (settings === undefined) {
  console.log(USAGE);
  process.exit();
}
const facts = machine(python);
const measurements = await measure(settings, python);
const table = makeTable(settings.rows, measurements);
console.log(formatTable(table));
if (python === undefined)
  console.log('\nWithout Dask, which no Python on this machine has. bench/setup-python.sh installs it.');

const folder = path('bench/results/');
if (!existsSync(folder)) mkdirSync(folder);
const file = `${folder}${new Date().toISOString().replaceAll(':', '-')}.json`;
writeFileSync(
  file,
  JSON.stringify({ ...facts, table, measurements: Object.fromEntries(measurements) }, null, 2),
);
console.log(`\nAll measurements: ${file}`);
if (settings.readme) {
  const list = Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`);
  writeBetween('results', path('bench/README.md'), `${list.join('\n')}\n\n${formatTable(table)}`);
  writeBetween('summary', path('README.md'), formatSummary(table));
}

// `node dist-test/bench/start.js [--only A,B] [--repeat N] [--node PATH]` measures the shortest programs, and two that a
// person would write (`programs/`): from the start of the process to its first result, and the CPU time of all its
// processes until they have ended. In each repetition every program runs once, one after the other, beside programs that
// do nothing, loops, piscina and Dask. Linux only.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from './median.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '5' },
    node: { type: 'string', default: process.execPath },
  },
});
// Node reads these certificates at each start, for 70 ms of CPU. Most machines do not set them.
delete process.env['NODE_EXTRA_CA_CERTS'];
/** Clock ticks per second in /proc. */
const TICKS = 100;
/** Time limit of a program in ms. */
const LIMIT_MS = 120_000;
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const PYTHON = path('.venv/bin/python');

interface Program {
  readonly id: string;
  readonly command: readonly string[];
  /** The first line that the program prints. */
  readonly prints: string;
}

interface Cost {
  /** Seconds from the start to the first result. */
  readonly wall: number;
  /** CPU seconds of the program and its processes. */
  readonly cpu: number;
}

/** A bar: how many times the cost of another program a program may have. */
interface Target {
  readonly id: string;
  readonly peer: string;
  readonly cost: keyof Cost;
  readonly most: number;
}

const TARGETS: readonly Target[] = [
  { id: 'js-local-threads-2', peer: 'piscina-2', cost: 'wall', most: 1.3 },
  { id: 'js-local-threads-2', peer: 'piscina-2', cost: 'cpu', most: 1.3 },
  { id: 'ts-local-threads-2', peer: 'ts-empty', cost: 'cpu', most: 1.5 },
  { id: 'js-cluster-processes-2', peer: 'dask-2', cost: 'wall', most: 0.25 },
  { id: 'images-threads', peer: 'images-loop', cost: 'wall', most: 0.65 },
  { id: 'images-threads', peer: 'images-loop', cost: 'cpu', most: 1.3 },
  { id: 'logs-threads', peer: 'logs-piscina', cost: 'wall', most: 0.9 },
  { id: 'logs-threads', peer: 'logs-piscina', cost: 'cpu', most: 0.9 },
];

const js = (name: string, ...args: string[]): string[] => [
  options.node,
  path(`dist-test/bench/${name.includes('/') ? name : `start/${name}`}.js`),
  ...args,
];
const ts = (name: string, ...args: string[]): string[] => [
  options.node,
  path('node_modules/tsx/dist/cli.mjs'),
  path(`bench/start/${name}.ts`),
  ...args,
];

const IMAGES = '200 images, most pixels have level 97';
const LOGS =
  'user34 (jp): 67422433, user73 (jp): 67226750, user11 (fr): 66480329, user1 (jp): 66355684, user0 (br): 66338790';

/** Programs with work of seconds. `logs` is the folder of the log files. */
function longerPrograms(logs: string): Program[] {
  const all: Program[] = [{ id: 'images-loop', command: js('programs/imagesLoop'), prints: IMAGES }];
  for (const kind of ['threads', 'cluster', 'worker-processes'])
    all.push({ id: `images-${kind}`, command: js('programs/images', kind), prints: IMAGES });
  all.push({ id: 'logs-loop', command: js('programs/logsLoop', logs), prints: LOGS });
  all.push({ id: 'logs-piscina', command: js('programs/logsPiscina', logs), prints: LOGS });
  for (const kind of ['threads', 'cluster', 'worker-processes'])
    all.push({ id: `logs-${kind}`, command: js('programs/logs', logs, kind), prints: LOGS });
  return all;
}

function shortestPrograms(): Program[] {
  const prints = '1';
  const all: Program[] = [
    { id: 'js-empty', command: js('empty'), prints },
    { id: 'ts-empty', command: ts('empty'), prints },
  ];
  for (const workers of ['1', '2', '8']) {
    for (const [name, kind] of [
      ['local', 'threads'],
      ['local', 'processes'],
      ['cluster', 'threads'],
      ['cluster', 'processes'],
    ] as const) {
      all.push({ id: `js-${name}-${kind}-${workers}`, command: js(name, kind, workers), prints });
      if (workers === '2') all.push({ id: `ts-${name}-${kind}-2`, command: ts(name, kind, workers), prints });
    }
    all.push({ id: `piscina-${workers}`, command: js('piscina', workers), prints });
    if (existsSync(PYTHON))
      all.push({
        id: `dask-${workers}`,
        command: [PYTHON, path('bench/peers/dask_start.py'), workers],
        prints,
      });
  }
  return all;
}

/** Returns the CPU seconds of all ended children and their ended children. */
function childrenCpu(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in brackets, may contain spaces. cutime and cstime are fields 14 and 15 behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

async function run({ id, command, prints }: Program): Promise<Cost> {
  const [file = '', ...args] = command;
  const before = childrenCpu();
  const start = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'close');
  const printed = await Promise.race([once(child.stdout, 'data'), ended]);
  const wall = (performance.now() - start) / 1000;
  const [code]: unknown[] = await ended;
  // Python without a buffer writes the end of the line separately.
  if (code !== 0 || String(printed[0]).trimEnd() !== prints)
    throw new Error(`${id} printed '${printed[0]}' and ended with ${code}: ${errors}`);
  return { wall, cpu: childrenCpu() - before };
}

const folder = mkdtempSync(join(tmpdir(), 'longpole-bench-'));
const only = options.only.split(',');
const programs = [...shortestPrograms(), ...longerPrograms(folder)].filter(({ id }) =>
  only.some((part) => id.includes(part)),
);
const measured = new Map(programs.map((program) => [program, [] as Cost[]]));
try {
  if (programs.some(({ id }) => id.startsWith('logs')))
    execFileSync(process.execPath, [path('dist-test/bench/programs/makeLogs.js'), folder]);
  for (let repetition = 0; repetition < Number(options.repeat); repetition++)
    for (const [program, costs] of measured) costs.push(await run(program));
} finally {
  rmSync(folder, { recursive: true });
}

for (const [{ id }, costs] of measured) {
  const text = (of: (cost: Cost) => number): string => {
    const values = costs.map(of);
    return `${median(values).toFixed(2)} s (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
  };
  console.log(`${id.padEnd(24)} wall ${text(({ wall }) => wall).padEnd(24)} CPU ${text(({ cpu }) => cpu)}`);
}
const byId = new Map([...measured].map(([{ id }, costs]) => [id, costs]));
for (const { id, peer, cost, most } of TARGETS) {
  const peers = byId.get(peer);
  const ratios = byId.get(id)?.flatMap((own, i) => {
    const other = peers?.[i];
    return other === undefined ? [] : [own[cost] / other[cost]];
  });
  if (ratios === undefined || ratios.length === 0) continue;
  const middle = median(ratios);
  const verdict = middle <= most ? 'met' : 'MISSED';
  console.log(`${id}: ${middle.toFixed(2)} times the ${cost} of ${peer}, target ${most}: ${verdict}`);
}

// `node dist-test/bench/dask.js [--only A,B] [--repeat N] [--leaves N] [--map N]` measures TypeScript on a Dask cluster of
// two workers beside Python on the same cluster, one after the other in each repetition. The examples run beside a
// LocalCluster of two processes. Needs .venv, which bench/setup-python.sh makes.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Client, connect } from 'longpole';
import { inc, lengthOf, make, nap, sum } from './clusterBodies.js';
import { treeGraph, treeResult, treeShape } from './graphs.js';
import { median } from './median.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '3' },
    leaves: { type: 'string', default: '100000' },
    map: { type: 'string', default: '20000' },
  },
});
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const PYTHON = path('.venv/bin/python');
const ARRAY_BYTES = 100_000_000;
const NAPS = 200;
/** Example → its arguments. All take a few seconds. The examples that start a cluster themselves choose processes for it. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'parse-sources': ['--dir', path('src'), '--page', 'parse.html'],
  pipeline: ['--processes'],
  tsqr: ['--rows', '4000', '--columns', '400', '--page', 'tsqr.html'],
  'word-count': [path('docs'), '--processes'],
};

/** A cluster in Python, which also runs rows. */
class Peer {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    this.#child = spawn(PYTHON, [path('bench/peers/dask_cluster_rows.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  async address(): Promise<string> {
    const { address }: { address: string } = JSON.parse(await this.#line());
    return address;
  }

  /** Returns the seconds of a row in Python. */
  async seconds(row: string, size: number): Promise<number> {
    this.#child.stdin.write(`${row} ${size}\n`);
    return Number(await this.#line());
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await once(this.#child, 'close');
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('The cluster in Python has ended.');
    return value;
  }
}

interface Bench {
  readonly peer: Peer;
  readonly client: Client;
  readonly address: string;
}

interface Row {
  readonly id: string;
  readonly label: string;
  readonly target: string;
  readonly isMet: (figure: number) => boolean;
  /** Whether the row runs programs. The last rows do. */
  readonly isOwnProgram?: boolean;
  /** Returns the figure of one repetition and its parts in seconds. */
  readonly measure: (
    bench: Bench,
  ) => Promise<{ readonly figure: number; readonly own: number; readonly peer?: number }>;
}

async function seconds(run: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  if (!(await run())) throw new Error('The result is wrong.');
  return (performance.now() - start) / 1000;
}

/** Returns a row whose figure is the time in TypeScript as a fraction of the time in Python. */
function beside(
  id: string,
  label: string,
  most: number,
  size: number,
  run: (client: Client) => Promise<boolean>,
): Row {
  return {
    id,
    label,
    target: `≤ ${most}`,
    isMet: (figure) => figure <= most,
    measure: async ({ peer, client }) => {
      const own = await seconds(() => run(client));
      const other = await peer.seconds(id, size);
      return { figure: own / other, own, peer: other };
    },
  };
}

const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

const LEAVES = Number(options.leaves);
const MAP = Number(options.map);
const SHAPE = treeShape(LEAVES);

/** Runs a command and returns its seconds. */
async function command(args: readonly string[], cwd: string): Promise<number> {
  return await seconds(async () => {
    const child = spawn(process.execPath, args, {
      cwd,
      stdio: 'ignore',
      env: { ...process.env, LONGPOLE_PYTHON: PYTHON },
    });
    const [code]: unknown[] = await once(child, 'close');
    return code === 0;
  });
}

/** Returns the example that takes longest on a Dask cluster, with its seconds there and on a LocalCluster. */
async function longestExample(address: string): Promise<{ figure: number; own: number; peer: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-bench-dask-'));
  const run = (where: readonly string[], name: string, args: readonly string[]): Promise<number> => {
    const program = path(`dist/examples/${name}/main.js`);
    return command(
      [path('dist/bundle/main.js'), 'run', '--no-dashboard', ...where, program, '--', ...args],
      folder,
    );
  };
  try {
    let longest = { figure: 0, own: 0, peer: 0 };
    for (const [name, args] of Object.entries(EXAMPLES)) {
      const own = await run(['--dask', address], name, args);
      const peer = await run(['--cluster', '--processes', '--workers', '2'], name, args);
      console.log(`  ${name}: ${own.toFixed(2)} s on Dask, ${peer.toFixed(2)} s on a LocalCluster`);
      if (own > longest.own) longest = { figure: own / peer, own, peer };
    }
    return longest;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ROWS: readonly Row[] = [
  beside('map', `${MAP} no-ops, one map and gather`, 0.04, MAP, async (client) => {
    const results = await client.gather(client.map(inc, numbers(MAP)));
    return results.at(-1) === MAP;
  }),
  beside('graph', `a graph of ${SHAPE.tasks} no-ops`, 0.03, LEAVES, async (client) => {
    const { graph, key } = treeGraph(SHAPE, inc, sum);
    return (await client.get(graph, key)) === treeResult(LEAVES);
  }),
  beside('naps', `${NAPS} tasks of 100 ms`, 1.03, NAPS, async (client) => {
    const results = await client.gather(client.map(nap, numbers(NAPS), { pure: false }));
    return results.at(-1) === NAPS - 1;
  }),
  {
    id: 'transfer',
    label: '100 MB from worker to worker, rate',
    target: '≥ 0.8',
    isMet: (figure) => figure >= 0.8,
    measure: async ({ peer, client }) => {
      const array = client.submit(make, ARRAY_BYTES / 8, { workers: 'dask-0', pure: false });
      await array.wait();
      const own = await seconds(async () => {
        const length = await client.submit(lengthOf, array, { workers: 'dask-1', pure: false }).result();
        return length === ARRAY_BYTES / 8;
      });
      array.release();
      const other = await peer.seconds('transfer', ARRAY_BYTES);
      return { figure: other / own, own, peer: other };
    },
  },
  {
    id: 'first',
    isOwnProgram: true,
    label: 'first result of a program, s',
    target: '≤ 2 s',
    isMet: (figure) => figure <= 2,
    measure: async ({ address }) => {
      const own = await firstResult(address);
      return { figure: own, own };
    },
  },
  {
    id: 'examples',
    isOwnProgram: true,
    label: 'longest example beside LocalCluster',
    target: '≤ 1.5',
    isMet: (figure) => figure <= 1.5,
    measure: ({ address }) => longestExample(address),
  },
];

/** Returns the seconds from the start of a process until it prints its first result. */
async function firstResult(address: string): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, [path('dist-test/bench/start/dask.js'), address], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LONGPOLE_PYTHON: PYTHON },
  });
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  const wall = (performance.now() - start) / 1000;
  const [code]: unknown[] = await ended;
  if (code !== 0) throw new Error(`The program ended with ${String(code)}.`);
  return wall;
}

const only = options.only.split(',');
const peer = new Peer();
const address = await peer.address();
const client = await connect(address, { python: PYTHON });
// Sends the modules and starts the processes. The row `first` measures that.
await client.submit(inc, 0).result();
await peer.seconds('map', 1);
for (const { id, label, target, isMet, measure, isOwnProgram } of ROWS) {
  if (!only.some((part) => id.includes(part))) continue;
  // The programs have connections of their own. Another one would leave them less of the machine.
  if (isOwnProgram === true) await client.close();
  const found = [];
  for (let round = 0; round < Number(options.repeat); round++)
    found.push(await measure({ peer, client, address }));
  const figures = found.map(({ figure }) => figure);
  const middle = median(figures);
  const range = `${Math.min(...figures).toFixed(3)} to ${Math.max(...figures).toFixed(3)}`;
  console.log(
    `${label.padEnd(38)} ${middle.toFixed(3)} (${range})  target ${target}: ${isMet(middle) ? 'met' : 'MISSED'}`,
  );
  const parts = found.map(
    ({ own, peer }) => `${own.toFixed(2)}${peer === undefined ? '' : ` and ${peer.toFixed(2)}`}`,
  );
  console.log(`  seconds: ${parts.join(', ')}`);
}
await client.close();
await peer.close();

// Checks large runs and large files against bounds on memory and CPU time. Each bound lies between the figure of a
// correct run and that of a known defect.
import assert from 'node:assert/strict';
import { cpSync, createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createDeflate, createGzip } from 'node:zlib';
import { type Graph, getMultiprocessing, getThreaded } from 'longpole/local';
import { openTrace } from 'longpole/trace';
import { windowOf } from '#internal/analysis/path/pathWalk.js';
import { replayGraphOf } from '#internal/analysis/simulation/replayGraph.js';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { BLOCK_BYTES, lz4Zeros, tableWith } from '../../test/support/lz4Bomb.js';
import { repositoryPath } from '../../test/support/repository.js';
import type { Round, RoundContext } from '../round.js';

const WORKERS = { numWorkers: 2 };

/** Returns the peak memory of this process, which runs only one round. */
function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

function assertPeakBelow(bytes: number): void {
  const peak = peakBytes();
  assert.ok(peak < bytes, `The process has taken ${Math.round(peak / 1e6)} MB, more than ${bytes / 1e6} MB.`);
}

const make = (x: number): Float64Array => new Float64Array(1e6).fill(x);
const add = (a: Float64Array, b: Float64Array): Float64Array => {
  const sum = new Float64Array(a.length);
  sum[0] = a[0]! + b[0]!;
  return sum;
};
const first = (a: Float64Array): number => a[0]!;

/** Returns a graph of 511 arrays of 8 MB, 4.1 GB in all. */
function arrays(): Graph {
  const graph: Record<string, unknown> = {};
  let level = Array.from({ length: 256 }, (_, i) => `m${i}`);
  for (const [i, key] of level.entries()) graph[key] = [make, i];
  for (let depth = 0; level.length > 1; depth++) {
    const next: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      graph[`a${depth}-${i}`] = [add, level[i], level[i + 1]];
      next.push(`a${depth}-${i}`);
    }
    level = next;
  }
  graph['total'] = [first, level[0]];
  return graph;
}

function arraysRound(name: string, get: typeof getThreaded): Round {
  return {
    name,
    checks: 'Large arrays are freed when no task needs them: a run with 4.1 GB of them takes less than 2 GB.',
    async run() {
      assert.equal(await get(arrays(), 'total', WORKERS), (255 * 256) / 2);
      // Of the arrays, 0.7 to 1.3 GB exist at the same time, more on a busy machine.
      assertPeakBelow(2e9);
    },
  };
}

const inc = (x: number): number => x + 1;
const sum = (xs: readonly number[]): number => xs.reduce((total, x) => total + x, 0);
const MILLION = 1_000_000;

function chain(): Graph {
  const graph: Record<string, unknown> = { c0: [inc, 0] };
  for (let i = 1; i < MILLION; i++) graph[`c${i}`] = [inc, `c${i - 1}`];
  return graph;
}

/** Returns the graph of a sum of `leaves` numbers, in groups of 16, and its root. */
function tree(leaves: number): readonly [graph: Graph, root: string] {
  const graph: Record<string, unknown> = {};
  let level = Array.from({ length: leaves }, (_, i) => `i${i}`);
  for (const [i, key] of level.entries()) graph[key] = [inc, i];
  for (let depth = 0; level.length > 1; depth++) {
    const next: string[] = [];
    for (let i = 0; i < level.length; i += 16) {
      graph[`s${depth}-${i}`] = [sum, level.slice(i, i + 16)];
      next.push(`s${depth}-${i}`);
    }
    level = next;
  }
  return [graph, level[0]!];
}

const millionChain: Round = {
  name: 'million-chain',
  checks: 'A chain of 1,000,000 tasks takes less than 1 GB.',
  async run() {
    assert.equal(await getThreaded(chain(), `c${MILLION - 1}`, WORKERS), MILLION);
    assertPeakBelow(1e9);
  },
};

const millionTree: Round = {
  name: 'million-tree',
  checks: 'A tree of 1,000,000 tasks takes less than 1 GB.',
  async run() {
    const leaves = 937_500;
    const [graph, root] = tree(leaves);
    assert.equal(await getThreaded(graph, root, WORKERS), (leaves * (leaves + 1)) / 2);
    assertPeakBelow(1e9);
  },
};

const largeText: Round = {
  name: 'large-text',
  checks: 'Reading a file with 100 MB of text that a trace does not keep takes less than 60 MB.',
  async run({ folder }: RoundContext) {
    const file = join(folder, 'large.json');
    const event = `{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":1,"args":{"junk":"${'x'.repeat(50_000)}"}}`;
    writeFileSync(file, '[');
    for (let i = 0; i < 2000; i++) writeFileSync(file, i === 0 ? event : `,\n${event}`, { flag: 'a' });
    writeFileSync(file, ']', { flag: 'a' });
    const before = peakBytes();
    assert.equal(openTrace(file).tasks.length, 2000);
    assertPeakBelow(before + 60e6);
  },
};

const packed: Round = {
  name: 'packed-bombs',
  checks:
    'A gzip file, a report and a trace directory of some MB that unpack to 2 GB and more are refused, and take less than 700 MB.',
  async run({ folder }: RoundContext) {
    const piece = Buffer.alloc(2 ** 24, ' ');
    const gzip = join(folder, 'bomb.json.gz');
    const report = join(folder, 'bomb.html');
    const head = '[{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":1},';
    await pipeline(repeated(head, piece), createGzip(), createWriteStream(gzip));
    await pipeline(repeated('', piece), createDeflate(), createWriteStream(report));
    const data = readFileSync(report).toString('base64');
    writeFileSync(report, `<!doctype html><script id="longpole-trace">${data}</script>`);
    const blocks = 1000;
    const directory = join(folder, 'bomb.trace');
    cpSync(repositoryPath('test/fixtures/version-1/recorded'), directory, { recursive: true });
    writeFileSync(
      join(directory, 'tasks.arrows'),
      Buffer.concat(tableWith(lz4Zeros(blocks), blocks * BLOCK_BYTES)),
    );
    for (const file of [gzip, report, directory])
      assert.throws(() => openTrace(file), { code: 'ERR_LONGPOLE_UNPACKED_SIZE' });
    assertPeakBelow(700e6);
  },
};

/** Yields 2 GB in all. */
function* repeated(head: string, piece: Buffer): Generator<Buffer> {
  yield Buffer.from(head);
  for (let i = 0; i < 128; i++) yield piece;
}

const wideTask: Round = {
  name: 'wide-task',
  checks: 'The time of simulating a task with 100,000 inputs grows linearly with their number.',
  async run() {
    const needs = Array.from({ length: 100_000 }, (_, i) => `load-${i}`);
    const trace = syntheticTrace({
      tasks: [
        ...needs.map((key) => ({ key, started: 0, stopped: 1 })),
        { key: 'sum-0', started: 1, stopped: 2, needs },
      ],
    });
    const before = process.cpuUsage();
    const { dependencies } = replayGraphOf(trace, windowOf(trace), { faster: new Map(), split: new Map() });
    const { user, system } = process.cpuUsage(before);
    assert.equal(dependencies.length, needs.length);
    // About 0.5 s of CPU time. A comparison of each input with every other took 10 s.
    const seconds = (user + system) / 1e6;
    assert.ok(seconds < 4, `It took ${seconds} s of CPU.`);
  },
};

export const bounds: readonly Round[] = [
  arraysRound('large-arrays-threads', getThreaded),
  arraysRound('large-arrays-processes', getMultiprocessing),
  millionChain,
  millionTree,
  largeText,
  packed,
  wideTask,
];

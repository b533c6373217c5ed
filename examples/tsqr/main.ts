// Computes the QR factors of a tall matrix in blocks, then q · r, and compares q · r with the matrix. Uses all three
// profilers.
import { parseArgs } from 'node:util';
import type { Delayed } from 'longpole';
import {
  CacheProfiler,
  nbytes,
  Profiler,
  ProgressBar,
  ResourceProfiler,
  visualize,
} from 'longpole/diagnostics';
import { positive, runWith } from '../support/options.js';
import { blockQR, combine, compare, dot, random, relativeError, takeBlock, takeQ, takeR } from './tasks.js';

const USAGE = `Usage: tsqr [--rows N] [--columns N] [--blocks N] [--workers N] [--page FILE]

  --rows N      rows of the matrix (default 10000)
  --columns N   columns of the matrix (default 1000); a block has at least as many rows
  --blocks N    blocks of rows (default 10)
  --workers N   worker threads (default: one per core)
  --page FILE   where to write the profile (default longpole-tsqr.html)
`;
/** Largest ‖q · r − a‖ / ‖a‖. Above it the run fails. */
const TOLERANCE = 1e-9;

interface Settings {
  readonly rows: number;
  readonly columns: number;
  readonly blocks: number;
  readonly workers: number | undefined;
  readonly page: string;
}

/** Returns the graph of the whole computation: ‖q · r − a‖ / ‖a‖ of a random matrix `a`. */
function tallSkinnyQR({ rows, columns, blocks }: Settings): Delayed<number> {
  const heights = Array.from(
    { length: blocks },
    (_, i) => Math.floor(((i + 1) * rows) / blocks) - Math.floor((i * rows) / blocks),
  );
  const a = heights.map((height, i) => random(height, columns, i));
  const first = a.map((block) => blockQR(block));
  const second = combine(first.map((factors) => takeR(factors)));
  const r = takeR(second);
  const errors = a.map((block, i) => {
    const q = dot(takeQ(first[i]!), takeBlock(second, i));
    return compare(dot(q, r), block);
  });
  return relativeError(errors);
}

async function main({ workers, page, ...size }: Settings): Promise<number> {
  const result = tallSkinnyQR({ workers, page, ...size });
  const profilers = [
    new Profiler(),
    new ResourceProfiler({ dt: 0.25 }),
    new CacheProfiler({ metric: nbytes, metricName: 'bytes' }),
  ] as const;
  const error = await result.compute({ callbacks: [new ProgressBar(), ...profilers], numWorkers: workers });
  const written = visualize(profilers, { filename: page, title: 'Tall-skinny QR' });
  console.log(
    `${size.rows} x ${size.columns} in ${size.blocks} blocks: |q.r - a| / |a| = ${error.toExponential(2)}`,
  );
  console.log(`What every worker did: ${written}`);
  return error <= TOLERANCE ? 0 : 1;
}

function readSettings(): Settings | undefined {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '10000' },
      columns: { type: 'string', default: '1000' },
      blocks: { type: 'string', default: '10' },
      workers: { type: 'string' },
      page: { type: 'string', default: 'longpole-tsqr.html' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const settings = {
    rows: positive('rows', values.rows),
    columns: positive('columns', values.columns),
    blocks: positive('blocks', values.blocks),
    workers: values.workers === undefined ? undefined : positive('workers', values.workers),
    page: values.page,
  };
  if (settings.rows < settings.columns * settings.blocks) {
    throw new RangeError('Every block needs at least as many rows as columns: rows >= columns * blocks.');
  }
  return settings;
}

await runWith(USAGE, readSettings, main);

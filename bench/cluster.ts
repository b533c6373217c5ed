// Measures LocalCluster: `node dist-test/bench/cluster.js [--only A,B] [--repeat N] [--no-peers] [--minutes N]`. Also
// measures Dask's LocalCluster if `.venv` contains Dask (bench/setup-python.sh). With --minutes, runs small
// computations for that time and prints the memory of the main process every minute.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connect } from 'longpole';
import { inc } from './clusterBodies.js';
import { CLUSTER_ROWS } from './clusterRows.js';
import { median } from './median.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    repeat: { type: 'string' },
    minutes: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
  },
});
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const repeat = Number(options.repeat ?? 5);
const only = options.only?.split(',');

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const python = path('.venv/bin/python');
const hasPeers = !options['no-peers'] && existsSync(python);

/** Measures the same row with Dask's LocalCluster. Returns a text with Dask's figure and its ratio to ours. */
function besideDask(id: string, ours: number): string {
  const out = execFileSync(python, [path('bench/peers/distributed_bench.py'), id, String(repeat)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 300_000,
  });
  const values: unknown = JSON.parse(out);
  if (!Array.isArray(values)) throw new Error(`Dask's measurement is ${out}`);
  const dask = median(values.map(Number));
  return `; Dask ${dask.toPrecision(3)}, ${(dask / ours).toFixed(0)} times ours`;
}

if (options.minutes === undefined) {
  if (!hasPeers) console.log('Without Dask: bench/setup-python.sh installs it.');
  for (const { id, label, unit, target, hasPeer, measure } of CLUSTER_ROWS) {
    if (only !== undefined && !only.includes(id)) continue;
    const values = await measure(repeat);
    const middle = median(values);
    const met = unit === 'GB/s' ? middle >= target : middle <= target;
    const range = `${Math.min(...values).toPrecision(3)} to ${Math.max(...values).toPrecision(3)}`;
    console.log(
      `${id.padEnd(25)} ${label.padEnd(46)} ${middle.toPrecision(3).padStart(7)} ${unit} (${range}), ` +
        `target ${target}: ${met ? 'met' : 'MISSED'}${hasPeers && hasPeer ? besideDask(id, middle) : ''}`,
    );
  }
} else {
  await runFor(Number(options.minutes));
}

/** Runs consecutive small computations. Prints the heap and the resident memory of this process every minute. */
async function runFor(minutes: number): Promise<void> {
  await using client = await connect({ workers: 2 });
  let count = 0;
  for (let minute = 1; minute <= minutes; minute++) {
    const end = performance.now() + 60_000;
    while (performance.now() < end) {
      const futures = client.map(
        inc,
        Array.from({ length: 100 }, (_, index) => index),
      );
      await client.gather(futures);
      for (const future of futures) future.release();
      count += 100;
    }
    // The figures must not include garbage.
    collectGarbage();
    const { rss, heapUsed, external } = process.memoryUsage();
    const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
    console.log(
      `minute ${minute}: ${count} tasks, rss ${mb(rss)} MB, heap ${mb(heapUsed)} MB, external ${mb(external)} MB`,
    );
  }
}

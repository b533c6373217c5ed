// The measurements of LocalCluster with their targets. Each row runs on a new cluster.
import { type Client, connect, type LocalClusterOptions } from 'longpole';
import { Piscina } from 'piscina';
import { inc, make, spin, sum, use } from './clusterBodies.js';
import { chainGraph, treeGraph, treeResult, treeShape } from './graphs.js';
import { median } from './median.js';

export interface ClusterRow {
  readonly id: string;
  readonly label: string;
  readonly unit: string;
  readonly target: number;
  /** Whether bench/peers/distributed_bench.py has the row. */
  readonly hasPeer?: boolean;
  /** Returns one figure per repetition. Smaller is better unless the unit is GB/s. */
  measure(repeat: number): Promise<number[]>;
}

const LEAVES = 100_000;
const CHAIN = 10_000;
const MAP = 20_000;
const ARRAY = 12_500_000;
const SINGLES = 300;
const PISCINA_WORKER = new URL('peers/namedExports.js', import.meta.url).pathname;
/**
 * Warm-up time before measurements below a millisecond, so that V8 has optimised the code. As in the bench of the
 * schedulers.
 */
const WARM_UP_MS = 2000;

async function withClient<T>(options: LocalClusterOptions, body: (client: Client) => Promise<T>): Promise<T> {
  await using client = await connect({ workers: 2, ...options });
  return await body(client);
}

function check(found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`The result is ${String(found)}, not ${String(expected)}.`);
}

/** Returns microseconds per task, after one run to warm up. */
async function perTask(repeat: number, tasks: number, run: () => Promise<void>): Promise<number[]> {
  await run();
  const times: number[] = [];
  for (let round = 0; round < repeat; round++) {
    const start = performance.now();
    await run();
    times.push(((performance.now() - start) * 1000) / tasks);
  }
  return times;
}

function tree(options: LocalClusterOptions, leaves = LEAVES): ClusterRow['measure'] {
  return (repeat) =>
    withClient(options, (client) => {
      const shape = treeShape(leaves);
      return perTask(repeat, shape.tasks, async () => {
        const { graph, key } = treeGraph(shape, inc, sum);
        check(await client.get(graph, key), treeResult(leaves));
      });
    });
}

function chain(options: LocalClusterOptions): ClusterRow['measure'] {
  return (repeat) =>
    withClient(options, (client) =>
      perTask(repeat, CHAIN, async () => {
        const { graph, key } = chainGraph(CHAIN, inc);
        check(await client.get(graph, key), CHAIN);
      }),
    );
}

function map(options: LocalClusterOptions): ClusterRow['measure'] {
  return (repeat) =>
    withClient(options, (client) =>
      perTask(repeat, MAP, async () => {
        const futures = client.map(
          inc,
          Array.from({ length: MAP }, (_, index) => index),
        );
        check((await client.gather(futures)).length, MAP);
        for (const future of futures) future.release();
      }),
    );
}

/** Measures single round trips beside piscina, in turns. Returns our medians and the ones of piscina, in milliseconds. */
function roundTrips(
  options: LocalClusterOptions,
): (repeat: number) => Promise<[ours: number, piscina: number][]> {
  return (repeat) =>
    withClient(options, async (client) => {
      const pool = new Piscina({ filename: PISCINA_WORKER, minThreads: 2, maxThreads: 2 });
      const medianOf = async (run: (value: number) => Promise<unknown>): Promise<number> => {
        const times: number[] = [];
        for (let value = 0; value < SINGLES; value++) {
          const start = performance.now();
          check(await run(value), value + 1);
          times.push(performance.now() - start);
        }
        return median(times);
      };
      const ours = async (value: number): Promise<number> => {
        using future = client.submit(inc, value);
        return await future.result();
      };
      const piscina = (value: number): Promise<unknown> => pool.run(value, { name: 'inc' });
      try {
        const warm = performance.now() + WARM_UP_MS;
        while (performance.now() < warm) await Promise.all([ours(0), piscina(0)]);
        const rounds: [number, number][] = [];
        for (let round = 0; round < repeat; round++)
          rounds.push([await medianOf(ours), await medianOf(piscina)]);
        return rounds;
      } finally {
        await pool.destroy();
      }
    });
}

/** Measures single round trips, in milliseconds. */
function single(options: LocalClusterOptions): ClusterRow['measure'] {
  return async (repeat) => (await roundTrips(options)(repeat)).map(([ours]) => ours);
}

/** Measures single round trips, as multiples of those of piscina. */
function besidePiscina(options: LocalClusterOptions): ClusterRow['measure'] {
  return async (repeat) => (await roundTrips(options)(repeat)).map(([ours, piscina]) => ours / piscina);
}

/**
 * Measures the start of a task that needs an array of another worker, less a round trip without an array, in
 * milliseconds.
 */
function handOver(options: LocalClusterOptions): ClusterRow['measure'] {
  return (repeat) =>
    withClient(options, async (client) => {
      const times: number[] = [];
      for (let round = 0; round <= repeat; round++) {
        const array = client.submit(make, ARRAY, { workers: 'worker-0' });
        await array.wait();
        const small = client.submit(make, 10, { workers: 'worker-0' });
        await small.wait();
        const seconds = async (input: typeof array): Promise<number> => {
          const asked = performance.timeOrigin + performance.now();
          return (await client.submit(use, input, { workers: 'worker-1' }).result()) - asked;
        };
        const empty = Math.min(await seconds(small), await seconds(small));
        times.push(Math.max(0, (await seconds(array)) - empty));
        array.release();
        small.release();
      }
      return times.slice(1);
    });
}

/** Measures interleaved pairs of runs with and without recording. Returns their ratios. */
function recording(run: (client: Client) => Promise<void>): ClusterRow['measure'] {
  return (repeat) =>
    withClient({ record: true }, (on) =>
      withClient({ record: false }, async (off) => {
        const time = async (client: Client): Promise<number> => {
          const start = performance.now();
          await run(client);
          return performance.now() - start;
        };
        await time(on);
        await time(off);
        const ratios: number[] = [];
        for (let round = 0; round < repeat; round++) {
          const first = round % 2 === 0;
          const one = await time(first ? on : off);
          const other = await time(first ? off : on);
          ratios.push(first ? one / other : other / one);
        }
        return ratios;
      }),
    );
}

const spinning = async (client: Client): Promise<void> => {
  const futures = client.map(spin, new Array<number>(1000).fill(1));
  await client.gather(futures);
  for (const future of futures) future.release();
};

const empty = async (client: Client): Promise<void> => {
  const shape = treeShape(LEAVES);
  const { graph, key } = treeGraph(shape, inc, sum);
  check(await client.get(graph, key), treeResult(LEAVES));
};

const PROCESSES = { processes: true } as const;
const GIGABYTES_PER_MS = (8 * ARRAY) / 1e6;

export const CLUSTER_ROWS: readonly ClusterRow[] = [
  {
    id: 'threads',
    label: '106,669 no-op tasks, 2 threads, recording on',
    unit: 'µs per task',
    target: 3,
    hasPeer: true,
    measure: tree({}),
  },
  {
    id: 'processes',
    label: 'the same, 2 processes',
    unit: 'µs per task',
    target: 8,
    hasPeer: true,
    measure: tree(PROCESSES),
  },
  {
    id: 'map',
    label: 'map of 20,000 and gather, 2 processes',
    unit: 'µs per task',
    target: 10,
    hasPeer: true,
    measure: map(PROCESSES),
  },
  {
    id: 'chain',
    label: 'a chain of 10,000, 2 processes',
    unit: 'µs per task',
    target: 4,
    hasPeer: true,
    measure: chain(PROCESSES),
  },
  {
    id: 'submit-threads',
    label: 'submit → result, one at a time, threads',
    unit: 'ms',
    target: 0.15,
    hasPeer: true,
    measure: single({}),
  },
  {
    id: 'submit-threads-piscina',
    label: 'the same beside an empty task of piscina',
    unit: 'times piscina',
    target: 1.5,
    measure: besidePiscina({}),
  },
  {
    id: 'submit-processes',
    label: 'submit → result, one at a time, processes',
    unit: 'ms',
    target: 0.3,
    hasPeer: true,
    measure: single(PROCESSES),
  },
  {
    id: 'submit-processes-piscina',
    label: 'the same beside an empty task of piscina',
    unit: 'times piscina',
    target: 3,
    measure: besidePiscina(PROCESSES),
  },
  {
    id: 'million',
    label: 'one graph of 1,066,667 tasks, 2 threads',
    unit: 'µs per task',
    target: 5.6,
    measure: tree({}, 1_000_000),
  },
  { id: 'share', label: '100 MB from one thread to another', unit: 'ms', target: 1, measure: handOver({}) },
  {
    id: 'transfer',
    label: '100 MB from one process to another',
    unit: 'GB/s',
    target: 1,
    measure: async (repeat) => (await handOver(PROCESSES)(repeat)).map((ms) => GIGABYTES_PER_MS / ms),
  },
  {
    id: 'recording-1ms',
    label: 'recording on against off, 1 ms tasks',
    unit: 'times off',
    target: 1.02,
    measure: recording(spinning),
  },
  {
    id: 'recording-empty',
    label: 'recording on against off, empty tasks',
    unit: 'times off',
    target: 1.1,
    measure: recording(empty),
  },
];

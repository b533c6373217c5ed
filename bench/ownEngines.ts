// Longpole's schedulers as engines of the bench.
import { CacheProfiler, Profiler, ResourceProfiler } from 'longpole/diagnostics';
import { getMultiprocessing, getSync, getThreaded } from 'longpole/local';
import { inc, sum } from './bodies.js';
import { check, type Engine, type EngineFactory, type Measurement } from './engine.js';
import { chainGraph, treeGraph, treeResult, treeShape } from './graphs.js';
import { median } from './median.js';

const WORKERS = { numWorkers: 2 };

interface Prepared {
  readonly graph: Record<string, unknown>;
  readonly key: string;
  readonly expected: number;
  readonly tasks: number;
}

function tree(tasks: number): Prepared {
  const shape = treeShape(tasks);
  return { ...treeGraph(shape, inc, sum), expected: treeResult(tasks), tasks: shape.tasks };
}

function chain(tasks: number): Prepared {
  return { ...chainGraph(tasks, inc), expected: tasks, tasks };
}

/** Returns an engine that runs one kind of graph with one `get`. Graphs are kept between runs. */
function engine(
  prepare: (tasks: number) => Prepared,
  measure: (prepared: Prepared) => Promise<Measurement>,
): Engine {
  const known = new Map<number, Prepared>();
  return {
    async run(tasks) {
      let prepared = known.get(tasks);
      if (prepared === undefined) {
        prepared = prepare(tasks);
        known.set(tasks, prepared);
      }
      return measure(prepared);
    },
  };
}

async function time({ tasks, expected }: Prepared, get: () => unknown): Promise<Measurement> {
  const start = performance.now();
  const result = await get();
  const seconds = (performance.now() - start) / 1000;
  check(result, expected);
  return { seconds, tasks };
}

/** Returns all three profilers with the options of the documentation's example. */
function profilers(): readonly [Profiler, ResourceProfiler, CacheProfiler] {
  return [new Profiler(), new ResourceProfiler({ dt: 0.25 }), new CacheProfiler()];
}

/**
 * Number of pairs. A run takes only a tenth of a second, and the speed of a shared machine changes faster than that.
 */
const PAIRS = 7;

/** Measures threads with and without profilers, in pairs with alternating order. Returns the medians of both. */
async function profiled(prepared: Prepared): Promise<Measurement> {
  const on: number[] = [];
  const off: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const order = pair % 2 === 0 ? [on, off] : [off, on];
    for (const list of order)
      list.push(await (list === on ? profiledSeconds(prepared) : plainSeconds(prepared)));
  }
  return { seconds: median(on), tasks: prepared.tasks, baseSeconds: median(off) };
}

async function plainSeconds(prepared: Prepared): Promise<number> {
  const { seconds } = await time(prepared, () => getThreaded(prepared.graph, prepared.key, WORKERS));
  return seconds;
}

async function profiledSeconds(prepared: Prepared): Promise<number> {
  const callbacks = profilers();
  const { seconds } = await time(prepared, () =>
    getThreaded(prepared.graph, prepared.key, { ...WORKERS, callbacks: [...callbacks] }),
  );
  check(callbacks[0].results.length, prepared.tasks);
  check(callbacks[2].results.length, prepared.tasks);
  return seconds;
}

export const OWN_ENGINES: Readonly<Record<string, EngineFactory>> = {
  sync: () => engine(tree, (p) => time(p, () => getSync(p.graph, p.key))),
  threads: () => engine(tree, (p) => time(p, () => getThreaded(p.graph, p.key, WORKERS))),
  processes: () => engine(tree, (p) => time(p, () => getMultiprocessing(p.graph, p.key, WORKERS))),
  chain: () => engine(chain, (p) => time(p, () => getThreaded(p.graph, p.key, WORKERS))),
  profilers: () => engine(tree, profiled),
};

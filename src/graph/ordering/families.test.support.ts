// Graphs for the tests of the ordering: ten families of any size as lists of dependencies by key, numberings of their keys,
// and their edges in compressed rows.
import { randomNumbers } from '../../base/randomNumbers.test.support.js';
import type { Adjacency } from './adjacency.js';

/** Key → keys of its dependencies. */
export type Dependencies = Record<string, string[]>;

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function reduceInto(graph: Dependencies, keys: string[], width: number): void {
  let count = 0;
  for (let level = keys; level.length > 1; ) {
    const next: string[] = [];
    for (let start = 0; start < level.length; start += width) {
      const key = `t${count++}`;
      graph[key] = level.slice(start, start + width);
      next.push(key);
    }
    level = next;
  }
}

function tree(width: number, leaves: number): Dependencies {
  const graph: Dependencies = {};
  for (const leaf of range(leaves)) graph[`a${leaf}`] = [];
  reduceInto(graph, Object.keys(graph), width);
  return graph;
}

function mapReduce(stages: number, chains: number): Dependencies {
  const graph: Dependencies = {};
  for (const chain of range(chains)) {
    for (const stage of range(stages))
      graph[`s${stage}-${chain}`] = stage > 0 ? [`s${stage - 1}-${chain}`] : [];
  }
  reduceInto(
    graph,
    range(chains).map((chain) => `s${stages - 1}-${chain}`),
    8,
  );
  return graph;
}

function shuffle(parts: number): Dependencies {
  const graph: Dependencies = {};
  for (const i of range(parts)) graph[`load${i}`] = [];
  for (const i of range(parts)) graph[`split${i}`] = [`load${i}`];
  for (const i of range(parts)) for (const j of range(parts)) graph[`get${i}_${j}`] = [`split${i}`];
  for (const j of range(parts)) graph[`out${j}`] = range(parts).map((i) => `get${i}_${j}`);
  return graph;
}

function matmul(blocks: number): Dependencies {
  const graph: Dependencies = {};
  for (const i of range(blocks)) {
    for (const j of range(blocks)) {
      graph[`A${i}_${j}`] = [];
      graph[`B${i}_${j}`] = [];
    }
  }
  for (const i of range(blocks)) {
    for (const j of range(blocks)) {
      for (const k of range(blocks)) graph[`m${i}_${j}_${k}`] = [`A${i}_${k}`, `B${k}_${j}`];
      graph[`C${i}_${j}`] = range(blocks).map((k) => `m${i}_${j}_${k}`);
    }
  }
  return graph;
}

function stencil(width: number, steps: number): Dependencies {
  const graph: Dependencies = {};
  for (const step of range(steps + 1)) {
    for (const i of range(width)) {
      const near = step > 0 ? [i - 1, i, i + 1].filter((j) => j >= 0 && j < width) : [];
      graph[`x${step}_${i}`] = near.map((j) => `x${step - 1}_${j}`);
    }
  }
  return { ...graph, end: range(width).map((i) => `x${steps}_${i}`) };
}

function tsqr(blocks: number): Dependencies {
  const graph: Dependencies = {};
  for (const i of range(blocks)) {
    graph[`rand${i}`] = [];
    graph[`qr${i}`] = [`rand${i}`];
    graph[`q1_${i}`] = [`qr${i}`];
    graph[`r1_${i}`] = [`qr${i}`];
  }
  const stack = range(blocks).map((i) => `r1_${i}`);
  Object.assign(graph, { stack, qrtop: ['stack'], r: ['qrtop'], qtop: ['qrtop'] });
  for (const i of range(blocks)) {
    graph[`q2_${i}`] = ['qtop'];
    graph[`q${i}`] = [`q1_${i}`, `q2_${i}`];
    graph[`a${i}`] = [`q${i}`, 'r'];
  }
  return graph;
}

function std(chunks: number): Dependencies {
  const graph: Dependencies = {};
  for (const i of range(chunks)) graph[`x${i}`] = [];
  for (const i of range(chunks)) graph[`s${i}`] = [`x${i}`];
  Object.assign(graph, { mean: range(chunks).map((i) => `s${i}`) });
  for (const i of range(chunks)) {
    graph[`d${i}`] = [`x${i}`, 'mean'];
    graph[`v${i}`] = [`d${i}`];
  }
  return { ...graph, std: range(chunks).map((i) => `v${i}`) };
}

function anomaly(months: number, years: number): Dependencies {
  const graph: Dependencies = {};
  for (const year of range(years)) {
    const chunks = range(months).map((month) => `x${year}_${month}`);
    for (const chunk of chunks) graph[chunk] = [];
    graph[`clim${year}`] = chunks;
    for (const month of range(months)) graph[`an${year}_${month}`] = [`x${year}_${month}`, `clim${year}`];
    graph[`red${year}`] = range(months).map((month) => `an${year}_${month}`);
  }
  return { ...graph, all: range(years).map((year) => `red${year}`) };
}

/** Each task has up to `most` dependencies among the `window` tasks before it. `sink` depends on all tasks without dependents. */
function random(size: number, seed: number, window = 40, most = 3): Dependencies {
  const next = randomNumbers(seed);
  const graph: Dependencies = {};
  const used = new Set<string>();
  for (const task of range(size)) {
    const dependencies = new Set<string>();
    const lowest = Math.max(0, task - window);
    const count = Math.round(next() * most);
    for (let draw = 0; draw < count && task > 0; draw++) {
      dependencies.add(`n${lowest + Math.floor(next() * (task - lowest))}`);
    }
    graph[`n${task}`] = [...dependencies];
    for (const key of dependencies) used.add(key);
  }
  return { ...graph, sink: Object.keys(graph).filter((key) => !used.has(key)) };
}

const families: Record<string, (a: number, b: number, c?: number, d?: number) => Dependencies> = {
  tree,
  mapReduce,
  shuffle,
  matmul,
  stencil,
  tsqr,
  std,
  anomaly,
  random,
};

export function familyGraph(family: string, parameters: readonly number[]): Dependencies {
  const build = families[family];
  if (build === undefined) throw new RangeError(`no family ${family}`);
  const [a = 0, b = 0, c, d] = parameters;
  return build(a, b, c, d);
}

/** Numberings of the keys of a graph: each returns the keys in the order of their ids. */
export const numberings: Record<string, (graph: Dependencies) => string[]> = {
  'as inserted': (graph) => Object.keys(graph),
  'last first': (graph) => Object.keys(graph).reverse(),
  'from the results, breadth first': (graph) => walkFromResults(graph, false),
  'from the results, depth first': (graph) => walkFromResults(graph, true),
  shuffled: (graph) => {
    const next = randomNumbers(77);
    const keys = Object.keys(graph);
    for (let end = keys.length - 1; end > 0; end--) {
      const other = Math.floor(next() * (end + 1));
      [keys[end], keys[other]] = [keys[other]!, keys[end]!];
    }
    return keys;
  },
};

function walkFromResults(graph: Dependencies, depthFirst: boolean): string[] {
  const used = new Set(Object.values(graph).flat());
  const pending = Object.keys(graph).filter((key) => !used.has(key));
  const found = new Set<string>();
  for (let key = pending.shift(); key !== undefined; key = depthFirst ? pending.pop() : pending.shift()) {
    if (found.has(key)) continue;
    found.add(key);
    pending.push(...(graph[key] ?? []));
  }
  return [...found];
}

export interface Edges {
  readonly size: number;
  readonly dependencies: Adjacency;
  readonly dependents: Adjacency;
}

/** Returns the edges of `graph`. The id of `keys[i]` is `i`. */
export function edgesOf(graph: Dependencies, keys: readonly string[]): Edges {
  const ids = new Map(keys.map((key, id) => [key, id]));
  return edgesOfRows(keys.map((key) => (graph[key] ?? []).map((dependency) => ids.get(dependency) ?? -1)));
}

/** Returns the edges of a graph that is given as the dependencies of task 0, 1, … */
export function edgesOfRows(rows: readonly (readonly number[])[]): Edges {
  const above: number[][] = rows.map(() => []);
  for (const [task, row] of rows.entries()) for (const dependency of row) above[dependency]!.push(task);
  return { size: rows.length, dependencies: compressed(rows), dependents: compressed(above) };
}

function compressed(rows: readonly (readonly number[])[]): Adjacency {
  const offsets = new Int32Array(rows.length + 1);
  for (const [task, row] of rows.entries()) offsets[task + 1] = offsets[task]! + row.length;
  return { offsets, targets: Int32Array.from(rows.flat()) };
}

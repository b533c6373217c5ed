// What bench/reality.ts records. `node realityProgram.js ROUNDS`: loads, fits of so many rounds that need a load each, and
// a sum of the fits, so that a function can really be made faster. `node realityProgram.js tree TASKS`: a tree of sums.
import { tasks } from 'longpole';
import { getThreaded } from 'longpole/local';
import { inc, sum } from './bodies.js';
import { treeGraph, treeShape } from './graphs.js';

const WIDTH = 200;
const LOAD_ROUNDS = 3_000_000;

/** No operation leaves 32 bits: a sum that may is compiled to one of two loops by chance, and one takes thrice as long. */
function spin(rounds: number, seed: number): number {
  let state = seed + 1;
  for (let i = 0; i < rounds; i++) state = Math.imul(state ^ i, 48271);
  return state;
}

const { load, fit, total } = tasks(import.meta.url, {
  load(seed: number): number {
    return spin(LOAD_ROUNDS, seed);
  },
  fit(value: number, rounds: number): number {
    return spin(rounds, value);
  },
  total(values: readonly number[]): number {
    return values.reduce((all, value) => all + value, 0);
  },
});

// The isolates import this file, too, for the functions alone.
const [, program = '', argument = '', size = ''] = process.argv;
if (program.endsWith('realityProgram.js')) {
  if (argument === 'tree') {
    const { graph, key } = treeGraph(treeShape(Number(size)), inc, sum);
    console.log(await getThreaded(graph, key));
  } else {
    const fits = Array.from({ length: WIDTH }, (_, seed) => fit(load(seed), Number(argument)));
    console.log(await total(fits).compute());
  }
}

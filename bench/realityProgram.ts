// The program that bench/reality.ts records. `node realityProgram.js ROUNDS` runs loads, fits that need a load each,
// and a sum of the fits. ROUNDS is the number of rounds of a fit, so that a function can really be made faster. `node
// realityProgram.js tree TASKS` runs a tree of sums.
import { tasks } from 'longpole';
import { getThreaded } from 'longpole/local';
import { inc, sum } from './bodies.js';
import { treeGraph, treeShape } from './graphs.js';

const WIDTH = 200;
const LOAD_ROUNDS = 3_000_000;

/**
 * Computes within 32 bits. V8 compiles a loop that may exceed them in one of two ways by chance, and one is three times
 * slower.
 */
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

// The isolates import this file, too, and need only the functions.
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

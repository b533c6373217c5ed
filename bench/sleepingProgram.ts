// The program that bench/reality.ts records to compare predictions on a busy machine: `node sleepingProgram.js SHAPE`
// runs a graph whose tasks sleep. Their durations hardly depend on what other programs do.
import { type Delayed, tasks } from 'longpole';

const { nap, count } = tasks(import.meta.url, {
  nap(milliseconds: number, ..._after: readonly unknown[]): number {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    return milliseconds;
  },
  count(values: readonly unknown[]): number {
    return values.length;
  },
});

type Nap = Delayed<number>;

const naps = (length: number, make: (index: number) => Nap): Nap[] =>
  Array.from({ length }, (_, i) => make(i));

/** Returns the last task of a chain. */
function chain(length: number, milliseconds: number): Nap {
  let last = nap(milliseconds);
  for (let i = 1; i < length; i++) last = nap(milliseconds, last);
  return last;
}

/** Each cell of a grid needs the cells above and on the left. */
function grid(size: number, milliseconds: number): Nap[] {
  const cells: Nap[] = [];
  for (let i = 0; i < size * size; i++) {
    const needs = [i % size > 0 ? cells[i - 1] : undefined, cells[i - size]].filter(
      (cell) => cell !== undefined,
    );
    cells.push(nap(milliseconds, ...needs));
  }
  return cells;
}

function tree(leaves: number, milliseconds: number): Nap[] {
  let level = naps(leaves, () => nap(milliseconds));
  while (level.length > 1)
    level = naps(level.length / 2, (i) => nap(milliseconds, level[2 * i], level[2 * i + 1]));
  return level;
}

function stages(width: number, milliseconds: number): Nap[] {
  const all = nap(milliseconds, ...naps(width, () => nap(milliseconds)));
  return naps(width, () => nap(milliseconds, all));
}

const SHAPES: Readonly<Record<string, () => Nap[]>> = {
  map: () => naps(60, () => nap(100)),
  chains: () => naps(5, () => chain(12, 100)),
  tree: () => tree(32, 100),
  stages: () => stages(24, 120),
  uneven: () => naps(50, (i) => nap(10 + ((i * 37) % 50) * 4)),
  grid: () => grid(8, 100),
};

// The isolates import this file, too, and need only the functions.
const [, program = '', shape = ''] = process.argv;
if (program.endsWith('sleepingProgram.js')) {
  const make = SHAPES[shape];
  if (make === undefined) throw new RangeError(`There is no shape '${shape}'.`);
  console.log(await count(make()).compute());
}

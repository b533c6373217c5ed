// A worker thread of the bench for measuring. On request, it does a fixed amount of work and reports its CPU time.
import { parentPort } from 'node:worker_threads';
import { threadCpuClock } from '#internal/engine/worker/threadCpuClock.js';

const cpuClock = await threadCpuClock();

interface Leaf {
  readonly key: string;
  readonly value: number;
}

/** Does work as in typical tasks: calls, numbers, strings and short-lived objects. */
function work(rounds: number): number {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    const leaves = Array.from({ length: 64 }, (_, index) => makeLeaf(round, index));
    sum += leaves.map(weigh).reduce((total, each) => total + each, 0);
  }
  return sum;
}

function makeLeaf(round: number, index: number): Leaf {
  return { key: `leaf-${(round * 31 + index) % 977}`, value: Math.sqrt(round + index) };
}

function weigh({ key, value }: Leaf): number {
  return key.length * value;
}

parentPort?.on('message', (rounds: number) => {
  const start = performance.now();
  const cpu = cpuClock?.() ?? Number.NaN;
  const result = work(rounds);
  const seconds = (performance.now() - start) / 1000;
  parentPort?.postMessage({ seconds, cpu: (cpuClock?.() ?? Number.NaN) - cpu, result });
});

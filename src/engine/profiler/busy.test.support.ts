// A worker thread that is busy until a test stops it. `workerData` is shared memory: a first word other than 0 stops
// the thread, and the second counts rounds. The test looks for the lines of `spin` in a profile.
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/** Runs synchronously until the first word is not 0. */
export function spinUntilOpen(gate: Int32Array): number {
  let sum = 0;
  while (Atomics.load(gate, 0) === 0) {
    sum += burn(20_000);
    Atomics.add(gate, 1, 1);
  }
  return sum;
}

function burn(steps: number): number {
  let sum = 0;
  for (let step = 0; step < steps; step++) {
    sum += Math.sqrt(step);
  }
  return sum;
}

if (!isMainThread && workerData instanceof Int32Array) {
  const gate = workerData;
  parentPort?.on('message', () => {
    spinUntilOpen(gate);
    parentPort?.postMessage('done');
  });
}

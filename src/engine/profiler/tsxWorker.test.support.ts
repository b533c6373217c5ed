// A worker thread that lets tsx compile the busy module from its TypeScript source, and then spins as it does.
import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

const source = new URL('../../../src/engine/profiler/busy.test.support.ts', import.meta.url);
const gate: unknown = workerData;
register();
const busy: unknown = await import(`${source.href}?loaded`);
parentPort?.on('message', () => {
  if (typeof busy === 'object' && busy !== null && 'spinUntilOpen' in busy) {
    const { spinUntilOpen } = busy;
    if (typeof spinUntilOpen === 'function') spinUntilOpen(gate);
  }
  parentPort?.postMessage('done');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterEngine } from './clusterEngine.js';
import type { ClusterWorker } from './clusterWorker.js';
import { ModelProcess } from './modelProcess.test.support.js';
import { WorkerPlaces } from './workerPlaces.js';

const SETTINGS = {
  memoryLimit: 0,
  thresholds: {},
  profile: undefined,
  ttl: false,
  resources: new Map(),
} as const;

function ready(worker: ClusterWorker): void {
  const { name, address, pid } = worker.info;
  worker.ready({ name, address, pid, memoryLimit: 0, localDirectory: '', nthreads: 1 });
}

test('scaling succeeds although a worker fails to start, if another one starts in its place', async () => {
  const engine = new ClusterEngine({ threads: false, inlineBytes: 1024 });
  const workers: ClusterWorker[] = [];
  const places = new WorkerPlaces(engine, SETTINGS, (worker) => {
    workers.push(worker);
    return new ModelProcess(worker.info.index, worker.info.name);
  });
  const scaled = places.scale(2);
  workers[0]!.lost(new Error('The system has no process left.'));
  for (const worker of workers.slice(1)) ready(worker);
  await scaled;
  assert.deepEqual(
    places.workers.map(({ info }) => info.index),
    [2, 1],
  );
  await places.close();
  engine.close();
});

// The workers that the dashboard of the local schedulers shows.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { WORKER_LOST } from '../protocol/eventTopics.js';
import type { RunWorker } from '../protocol/runObserver.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { LocalDashboard } from './localDashboard.js';

function worker(index: number, pid = process.pid): RunWorker {
  const name = `processes-${index}`;
  return { index, name, address: '', host: '', pid, threads: 1, memoryLimit: 0, startTime: 0 };
}

test('the dashboard of local schedulers lists no workers that have ended', () => {
  const dashboard = new LocalDashboard(new LiveTrace(), () => undefined);
  for (const index of [0, 1, 2]) dashboard.workerAdded(worker(index));
  // A process that has ended without an event.
  dashboard.workerAdded(worker(3, spawnSync(process.execPath, ['--version']).pid));
  dashboard.event({ time: 1, worker: 1, topic: WORKER_LOST, text: 'It was killed.' });
  dashboard.workerRemoved(worker(2));
  assert.deepEqual(
    dashboard.state().workers.map(({ name }) => name),
    ['processes-0'],
  );
});

// What the plugin on a Dask worker reports about the worker's event loop, on a clock that the test drives.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { blockedSeconds, WORKER_BLOCKED } from '#internal/protocol/eventTopics.js';
import { ENVIRONMENT } from '../python/environment.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, python } from './realCluster.js';

/** Prints what the plugin reports after ticks with delays of 0, 0.4 and 1 s. */
const TICKS = `
import json
from unittest.mock import Mock
from longpole_dask import loop_tap
from longpole_dask.worker_tap import WorkerTap

now = 100.0
loop_tap.time = lambda: now
loop_tap.PeriodicCallback = Mock()
tap = WorkerTap("plugin", "client")
tap.logs = []
ticks = loop_tap.LoopTap(tap.late)
for delay in (0.0, 0.4, 1.0):
    now += loop_tap.TICK + delay
    ticks.tick()
print(json.dumps(tap.logs))
`;

it('an event loop of a Dask worker that is blocked for half a second or longer is reported', {
  skip: python === undefined && NO_PYTHON,
}, async () => {
  const logs: [time: number, level: string, text: string][] = JSON.parse(
    await runOrThrow(python ?? '', ['-c', TICKS], { env: ENVIRONMENT }),
  );
  assert.equal(logs.length, 1);
  const [[time, level, text] = [0, '', '']] = logs;
  assert.ok(Math.abs(time - 101.55) < 1e-6);
  assert.equal(`log-${level}`, WORKER_BLOCKED);
  assert.equal(blockedSeconds(text), 1);
});

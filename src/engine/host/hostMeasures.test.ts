import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTHING_MEASURED } from '../../protocol/isolateMessages.js';
import { WorkerDigests } from '../metrics/workerDigests.js';
import { HostMeasures } from './hostMeasures.js';

test('a wait that the isolate reports after its run was closed belongs to its task', (context) => {
  const tasks: number[] = [];
  const measures = new HostMeasures(
    { index: 0, epochOffsetMs: 0, clock: () => 0, digests: new WorkerDigests() },
    { interval: ({ task }) => tasks.push(task), event: () => undefined, metrics: () => undefined },
  );
  context.after(() => measures.close());
  const reported = (run: number) => {
    const wait = { action: 'await', start: 0, stop: 1, run, id: 2, nbytes: 0 } as const;
    measures.take({ ...NOTHING_MEASURED, work: [wait] });
  };
  for (const run of [7, 8]) measures.opened({ run, firstId: 100 * run, kinds: { kinds: [], kindOf: [] } });
  reported(7);
  measures.closed(7, false);
  for (const run of [7, 8, 9]) reported(run);
  assert.deepEqual(tasks, [702, 702, 802, -1]);
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('small tasks and the time between them count without waits for a core', () => {
  const costs = (stretch: number): number | undefined => {
    const tasks = Array.from({ length: 1000 }, (_, i): SyntheticTask => {
      const started = i * 0.003 * stretch;
      const stopped = started + 0.002 * stretch;
      const times = {
        submitted: 0,
        ready: 0,
        dispatched: 0,
        received: 0,
        started,
        stopped,
        acknowledged: stopped,
      };
      return { key: `fit-${i}`, worker: 'w0', ...times, coreWait: 0.002 * (stretch - 1) };
    });
    const found = findings(syntheticTrace({ tasks, workers: [{ name: 'w0' }] }));
    return found.find(({ code }) => code === 'tasks-too-small')?.seconds;
  };
  assert.ok(Math.abs((costs(1) ?? 0) - 1) < 0.01, `${costs(1)}`);
  assert.ok(Math.abs((costs(3) ?? 0) - 1) < 0.01, `${costs(3)}`);
});

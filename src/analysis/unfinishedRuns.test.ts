// Runs without result on the critical path: cancelled, timed out or lost with their thread.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticTask, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { findings } from './findings/findings.js';
import { partsText, pathOf } from './pathTexts.test.support.js';

const [SENT, ENDED] = [0, 4];
const unfinished = (state: 'cancelled' | 'lost'): SyntheticTask => ({
  key: 'slow-1',
  submitted: SENT,
  dispatched: SENT,
  received: Number.NaN,
  started: Number.NaN,
  stopped: Number.NaN,
  acknowledged: ENDED,
  state,
});

describe('the critical path names a run without result', () => {
  for (const state of ['cancelled', 'lost'] as const) {
    it(`if it was ${state} before or after all other tasks, or alone`, () => {
      const run = unfinished(state);
      assert.deepEqual(partsText(pathOf([run])), ['run without result slow-1 0..4']);
      const next: SyntheticTask = { key: 'quick-1', submitted: 4, dispatched: 4, started: 4, stopped: 5 };
      assert.deepEqual(partsText(pathOf([run, next])), [
        'run without result slow-1 0..4',
        'compute quick-1 4..5',
      ]);
      const first: SyntheticTask = { key: 'quick-1', submitted: 0, started: 0, stopped: 1 };
      const other: SyntheticTask = { ...first, worker: 'w1' };
      assert.deepEqual(partsText(pathOf([other, run])), [
        'compute quick-1 0..1',
        'run without result slow-1 1..4',
      ]);
    });

    it(`if another task waited for its thread until it was ${state}`, () => {
      const tasks: SyntheticTask[] = [
        { key: 'first-1', submitted: -2, dispatched: -2, started: -1, stopped: -0.5 },
        unfinished(state),
        { key: 'quick-1', submitted: 1, dispatched: 1, received: 1, started: 4, stopped: 5 },
      ];
      assert.deepEqual(partsText(pathOf(tasks)).slice(-2), [
        'run without result slow-1 0..4',
        'compute quick-1 4..5',
      ]);
    });
  }

  it('and that the task waited for a worker before its next run, which is no client time', () => {
    const again: SyntheticTask = {
      ...unfinished('lost'),
      attempt: 2,
      worker: 'w1',
      ready: ENDED,
      dispatched: 6,
      acknowledged: 7,
    };
    assert.deepEqual(partsText(pathOf([unfinished('lost'), again])), [
      'run without result slow-1 0..4',
      'waiting for a worker slow-1 4..6',
      'run without result slow-1 6..7',
    ]);
  });

  it('but not before a task that started on its thread earlier than the run ended', () => {
    const first: SyntheticTask = {
      key: 'quick-1',
      submitted: 0,
      dispatched: 0,
      received: 2,
      started: 2,
      stopped: 3,
    };
    const parts = partsText(pathOf([first, unfinished('cancelled')]));
    assert.deepEqual(parts.slice(-2), ['compute quick-1 2..3', 'run without result slow-1 3..4']);
    assert.ok(!parts.slice(0, -2).some((part) => part.startsWith('run without result')), `${parts}`);
  });

  it('if the same task then ran on another thread', () => {
    const again: SyntheticTask = {
      key: 'slow-1',
      attempt: 2,
      worker: 'w1',
      submitted: SENT,
      dispatched: ENDED,
      received: ENDED,
      started: ENDED,
      stopped: 5,
    };
    assert.deepEqual(partsText(pathOf([unfinished('lost'), again])), [
      'run without result slow-1 0..4',
      'compute slow-1 4..5',
    ]);
  });
});

it('a recording in which the only task was cancelled has the finding cancelled-tasks', () => {
  const [own, ...others] = findings(syntheticTrace({ tasks: [unfinished('cancelled')] }));
  assert.deepEqual([own?.code, own?.seconds, others.length], ['cancelled-tasks', 4, 0]);
});

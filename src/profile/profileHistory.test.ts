import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { ProfileHistory, type SampleLabel } from './profileHistory.js';
import { cycleOf } from './samples.test.support.js';

const PREFIXES = ['load', 'sum', 'write'];

function labelOf(task: number): SampleLabel {
  return { prefix: PREFIXES[task % 3] ?? '', span: task % 2 === 0 ? ['Alice', 'read'] : ['Alice'] };
}

/** Generates consecutive cycles with a few samples each. */
const CYCLES = fc
  .array(
    fc.array(
      fc.record({
        offset: fc.double({ min: 0, max: 0.99, noNaN: true }),
        task: fc.integer({ min: 0, max: 5 }),
      }),
      {
        maxLength: 6,
      },
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((cycles) =>
    cycles.map((samples, index) =>
      cycleOf(
        index,
        samples
          .map(({ offset, task }) => ({ time: index + offset, name: `f${task}`, task }))
          .sort((a, b) => a.time - b.time),
      ),
    ),
  );

test('merging cycles keeps the total number of samples, and the memory is bounded', () => {
  fc.assert(
    fc.property(CYCLES, (cycles) => {
      const history = new ProfileHistory({ maxCycles: 4 });
      let total = 0;
      for (const cycle of cycles) {
        history.add(cycle, labelOf);
        total += cycle.times.length;
        assert.ok(history.blockCount <= 4);
      }
      assert.equal(history.profile().count, total);
      const byPrefix = PREFIXES.map((key) => history.profile({ key }).count);
      assert.equal(
        byPrefix.reduce((sum, count) => sum + count, 0),
        total,
      );
    }),
  );
});

test('adjacent windows contain every sample exactly once', () => {
  fc.assert(
    fc.property(CYCLES, fc.double({ min: 0, max: 40, noNaN: true }), (cycles, cut) => {
      const history = new ProfileHistory({ maxCycles: 8 });
      for (const cycle of cycles) history.add(cycle, labelOf);
      const parts = history.profile({ stop: cut }).count + history.profile({ start: cut }).count;
      assert.equal(parts, history.profile().count);
    }),
  );
});

test('samples are found by prefix, span and thread, and time without a task is left out', () => {
  const history = new ProfileHistory();
  const cycle = cycleOf(100, [
    { time: 100.1, name: 'read', task: 0 },
    { time: 100.2, name: 'add', task: 1 },
    { time: 100.3, name: 'wait', task: -1 },
  ]);
  history.add({ ...cycle, stacks: Int32Array.of(0, 1, -1) }, labelOf);
  history.add(cycleOf(100, [{ time: 100.1, name: 'read', task: 0 }], 'threads-1'), labelOf);
  assert.equal(history.profile().count, 3);
  assert.equal(history.profile({ threads: ['threads-1'] }).count, 1);
  assert.equal(history.profile({ span: ['Alice', 'read'] }).count, 2);
  assert.equal(history.profile({ span: ['Alice'] }).count, 3);
  const load = history.profile({ key: 'load' });
  assert.deepEqual(Object.values(load.children), [
    {
      identifier: 'read;/src/read.ts;1',
      description: { name: 'read', filename: '/src/read.ts', lineNumber: 1 },
      count: 2,
      children: {},
    },
  ]);
});

test('a sample whose line is known is counted in that line of its function', () => {
  const history = new ProfileHistory();
  const cycle = cycleOf(0, [
    { time: 0.1, name: 'read', task: 0 },
    { time: 0.2, name: 'read', task: 0 },
    { time: 0.3, name: 'read', task: 0 },
  ]);
  history.add({ ...cycle, sampleLines: Int32Array.of(7, 8, 7) }, labelOf);
  const [read] = Object.values(history.profile().children);
  assert.equal(read?.count, 3);
  assert.deepEqual(read?.lines, { 7: 2, 8: 1 });
});

test('beyond the capacity for stacks samples count for the caller, and for prefixes together', () => {
  const history = new ProfileHistory({ maxStacks: 10, maxLabels: 5 });
  const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
  history.add(
    cycleOf(
      0,
      names.map((name, task) => ({ time: task / 200, name, task })),
    ),
    (task) => ({
      prefix: `p${task}`,
      span: [],
    }),
  );
  assert.equal(history.profile().count, 100);
  assert.ok(history.profile({ key: '(others)' }).count >= 90);
});

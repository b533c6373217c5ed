import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { type ScheduledTask, scheduled } from '../scheduledTrace.test.support.js';
import { findings } from './findings.js';
import { chain, many } from './workloads.test.support.js';

const tail = (tasks: readonly ScheduledTask[]) =>
  findings(syntheticTrace(scheduled(tasks, { workers: 2 }))).find(({ code }) => code === 'serial-tail');

test('a chain at the end that was ready before other tasks ran needs a higher priority', () => {
  const own = tail([...many(20), ...chain(5)]);
  assert.match(own?.evidence.text ?? '', /Before, 'step' was ready for 10 s while mostly 'fit' ran\.$/);
  assert.match(own?.advice ?? '', /^Start 'step' before 'fit', e\.g\. with a higher priority: /);
});

test('a chain at the end that needs the last other task, or that is longer than its wait, must be divided', () => {
  for (const own of [tail([...many(20), ...chain(5, ['fit-19'])]), tail([...many(8), ...chain(12)])])
    assert.match(own?.advice ?? '', /^Split 'step', combine results in a tree/);
});

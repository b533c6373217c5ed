import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';
import { codesOf, inRounds } from './workloads.test.support.js';

const CODE = 'uneven-rounds';

test('rounds of three tasks on two threads cost half a task each', () => {
  const found = findings(syntheticTrace(inRounds(3))).find(({ code }) => code === CODE);
  assert.match(found?.title ?? '', /^8 rounds of 3 tasks do not divide evenly among 2 threads/);
  assert.ok(Math.abs(found!.seconds - 4) < 0.1, `${found!.seconds} s`);
  assert.match(found?.advice ?? '', /asCompleted\(\)/);
});

test('tasks that are submitted before the last round ends are no rounds', () => {
  const { tasks = [] } = inRounds(3);
  assert.ok(codesOf({ tasks }).includes(CODE));
  assert.ok(!codesOf({ tasks: tasks.map((task) => ({ ...task, submitted: 0 })) }).includes(CODE));
});

test('a round that waits for one long task or for a chain is not uneven', () => {
  const { tasks = [] } = inRounds(3);
  const long = tasks.map((task, i) => (i % 3 === 2 ? task : { ...task, stopped: task.started + 0.3 }));
  assert.ok(!codesOf({ tasks: long }).includes(CODE));
  const chained = tasks.map((task, i) => (i % 3 === 2 ? { ...task, needs: [tasks[i - 1]!.key] } : task));
  assert.ok(!codesOf({ tasks: chained }).includes(CODE));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStealing, STEALING, stealingText } from '../protocol/eventTopics.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { stolenWork } from './stolenWork.js';

test('the text of a steal has the number of tasks, their expected seconds and the worker that gets them', () => {
  const stolen = { tasks: 3, seconds: 0.25, thief: 'a to b' };
  assert.equal(stealingText(stolen), '3 tasks of expected 0.25 s to a to b');
  for (const one of [stolen, { tasks: 1, seconds: 1.5e-7, thief: undefined }])
    assert.deepEqual(parseStealing(stealingText(one)), one);
  assert.equal(parseStealing('another event'), undefined);
});

test('steals are summed by pair of workers, the most tasks first', () => {
  const trace = new LiveTrace();
  for (const [index, name] of ['a', 'b', 'c'].entries())
    trace.workerAdded({
      index,
      name,
      address: '',
      host: 'h',
      pid: 1,
      threads: 1,
      memoryLimit: 0,
      startTime: 0,
    });
  const steal = (worker: number, thief: string | undefined, tasks: number) =>
    trace.event({
      time: 1,
      worker,
      topic: STEALING,
      text: stealingText({ tasks, seconds: tasks / 2, thief }),
    });
  steal(0, 'b', 1);
  steal(0, 'c', 4);
  steal(0, 'b', 2);
  steal(1, undefined, 1);
  trace.event({ time: 2, worker: 0, topic: 'other', text: '1 task of expected 1 s to b' });
  assert.deepEqual(stolenWork(trace.snapshot()).rows, [
    { From: 'a', To: 'c', Steals: 1, Tasks: 4, 'Expected (s)': 2 },
    { From: 'a', To: 'b', Steals: 2, Tasks: 3, 'Expected (s)': 1.5 },
    { From: 'b', To: '(scheduler)', Steals: 1, Tasks: 1, 'Expected (s)': 0.5 },
  ]);
});

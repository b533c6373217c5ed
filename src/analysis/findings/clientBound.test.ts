import assert from 'node:assert/strict';
import { it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('each submission of a program that keeps a task in flight ends a pause', () => {
  // While the program computes for a second, the task that it submitted before ends, and waits for it.
  const tasks = Array.from({ length: 20 }, (_, i) => {
    const submitted = Math.max(0, i - 1);
    const [started, stopped] = [submitted, submitted + 0.1];
    const acknowledged = i === 0 ? stopped : submitted + 1.01;
    return {
      key: `load-${i}`,
      worker: `w${i % 2}`,
      submitted,
      started,
      stopped,
      acknowledged,
      computation: i + 1,
    };
  });
  const own = findings(syntheticTrace({ tasks })).find(({ code }) => code === 'client-bound');
  assert.match(own?.evidence.text ?? '', /^In 18 pauses, 9\d % of the critical path, /);
});

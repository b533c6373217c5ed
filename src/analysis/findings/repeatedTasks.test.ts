import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

const ROUND = 3;

/** Four computations run four loads of 2 s, with keys of their own or the same ones, and four other tasks of 1 s, on two workers. */
const rounds = (keyOf: (round: number) => string, attempt = 1, hasOwnFunctions = false) =>
  findings(
    syntheticTrace({
      tasks: Array.from({ length: 32 }, (_, i) => {
        const [round, part, worker] = [Math.floor(i / 8), Math.floor((i % 8) / 2), i % 2];
        const started = 2 * ROUND * round + (part < 2 ? 2 * part : 2 + part);
        return {
          key: part < 2 ? `load-${keyOf(round)}${2 * part + worker}` : `score-${i}`,
          worker: `w${worker}`,
          ...(part < 2 ? { prefix: 'load', functionName: hasOwnFunctions ? `load${round}` : 'load' } : {}),
          computation: round + 1,
          attempt: round === 0 ? 1 : attempt,
          ...{ submitted: 2 * ROUND * round, ready: 2 * ROUND * round },
          ...{ started, stopped: started + (part < 2 ? 2 : 1) },
        };
      }),
    }),
  );

const TOKEN = '7cab3757fc4d8785';

test('tasks that several computations repeat cost the time of the later runs', () => {
  const [own] = rounds(() => TOKEN);
  assert.equal(own?.title, "4 computations ran the same tasks: 4 tasks of 'load' ran 16 times");
  assert.ok(Math.abs(own.seconds - 12) < 0.1, `${own.seconds}`);
  assert.deepEqual(own.evidence.numbers, {
    tasks: 4,
    repeatedRuns: 12,
    repeatedSeconds: 24,
    computations: 4,
  });
});

test('tasks with keys of their own, keys that the program chose, results computed again after a loss, and other functions are not repeated', () => {
  for (const others of [
    rounds((round) => `7cab3757fc4d878${round}`),
    rounds(() => 'part-'),
    rounds(() => TOKEN, 2),
    rounds(() => TOKEN, 1, true),
  ])
    assert.ok(!others.some(({ code }) => code === 'repeated-tasks'));
});

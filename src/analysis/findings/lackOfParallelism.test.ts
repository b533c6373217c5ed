// Programs whose single thread is busy, while the machine has more cores.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TASKS_CUT_OFF } from '../../protocol/eventTopics.js';
import { type SyntheticTask, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

/** Findings about tasks of a single thread on a machine with some cores. */
const found = (tasks: readonly SyntheticTask[], cores: number) =>
  findings(
    syntheticTrace({
      tasks,
      resources: Array.from({ length: 100 }, (_, i) => ({
        time: i / 10,
        figures: { cpu: 100, host_cpu: 100, host_cores: cores },
      })),
    }),
  );

/** A computation of one task after the other. */
const inTurn = Array.from(
  { length: 10 },
  (_, i): SyntheticTask => ({
    key: `fit-${i}`,
    started: i,
    stopped: i + 1,
    submitted: i,
    computation: i + 1,
  }),
);

describe('a program that needs only one thread, because it awaits each result', () => {
  it('leaves the other cores idle', () => {
    const [first, ...others] = found(inTurn, 2);
    assert.deepEqual([first?.code, first?.seconds, others], ['lack-of-parallelism', 5, []]);
    assert.equal(
      first?.title,
      'The program submits tasks one after the other: on average, 1.0 of 2 cores run a task',
    );
    assert.match(first?.advice ?? '', / Then more workers can run them\.$/);
  });

  it('is limited by a machine with one core', () => {
    assert.ok(!found(inTurn, 1).some(({ code }) => code === 'lack-of-parallelism'));
  });

  it('is another problem than a thread with tasks that wait for it, and than a chain of tasks', () => {
    for (const needs of [false, true]) {
      const tasks = inTurn.map((task, i) => ({
        ...task,
        submitted: 0,
        computation: 1,
        ...(needs && i > 0 ? { needs: [`fit-${i - 1}`] } : {}),
      }));
      const own = found(tasks, 2).find(({ code }) => code === 'lack-of-parallelism');
      assert.equal(
        own?.title,
        needs ? 'The graph has too few parallel tasks: on average, 1.0 of 2 cores run a task' : undefined,
      );
    }
  });
});

it('threads that had tasks which were cancelled at the end were not idle', () => {
  const chained = Array.from(
    { length: 5 },
    (_, i): SyntheticTask => ({
      key: `step-${i}`,
      worker: 'w0',
      started: i,
      stopped: i + 1,
      submitted: 0,
      needs: i === 0 ? [] : [`step-${i - 1}`],
    }),
  );
  const cancelled = (stop: number): SyntheticTask => ({
    key: 'fit-0',
    worker: 'w1',
    started: Number.NaN,
    stopped: Number.NaN,
    submitted: 0,
    dispatched: 0,
    acknowledged: stop,
    state: 'cancelled',
  });
  const codes = (stop: number) =>
    findings(
      syntheticTrace({ workers: [{ name: 'w0' }, { name: 'w1' }], tasks: [...chained, cancelled(stop)] }),
    ).map(({ code }) => code);
  assert.ok(!codes(5).includes('lack-of-parallelism'));
  assert.ok(codes(0.1).includes('lack-of-parallelism'));
});

it('the threads of a program that ended before its tasks were not idle because few of these had ended', () => {
  const codes = (tasks: number, events: readonly { time: number; topic: string; text: string }[]): string[] =>
    findings(
      syntheticTrace({
        workers: [
          { name: 'w0', started: 0 },
          { name: 'w1', started: 0 },
        ],
        tasks: inTurn.slice(0, tasks).map((task, i) => ({
          ...task,
          ...(i > 0 ? { needs: [`fit-${i - 1}`] } : {}),
        })),
        events,
      }),
    ).map(({ code }) => code);
  const cutOff = { time: 10, topic: TASKS_CUT_OFF, text: '5 tasks had not ended when the program ended.' };
  assert.deepEqual(codes(1, [cutOff]), []);
  for (const [tasks, events] of [
    [1, []],
    [10, [cutOff]],
  ] as const)
    assert.ok(codes(tasks, events).includes('lack-of-parallelism'));
});

it('a recursion whose tasks submit their parts at once does not submit them one after the other', () => {
  // Each call takes a second until its parts are submitted. The last two compute.
  const depth = 5;
  const key = (level: number, part: number) => `sort-${level}${part}`;
  const calls = Array.from({ length: depth }, (_, level) =>
    [0, 1].map((part): SyntheticTask => {
      const times = { submitted: level, ready: level, dispatched: level, started: level + 0.01 };
      const parent = level === 0 ? {} : { submitter: key(level - 1, 0), computation: level + 1 };
      const own = { key: key(level, part), worker: `w${part}`, ...times, ...parent };
      return level === depth - 1 || part === 1
        ? { ...own, stopped: level + 0.2 }
        : { ...own, seceded: level + 0.02, resumed: depth - 1 + 0.2, stopped: depth - 1 + 0.21 };
    }),
  );
  const codes = findings(syntheticTrace({ tasks: calls.flat() })).map(({ code }) => code);
  assert.ok(!codes.includes('lack-of-parallelism'), codes.join(', '));
});

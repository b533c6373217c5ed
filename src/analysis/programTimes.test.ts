// The time of a program outside of its computations.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { findings } from './findings/findings.js';
import { programTimes } from './programTimes.js';

/** A program whose tasks run from 0 to 4 s on two workers. */
function recorded(
  begin: number,
  end: number | undefined,
  fetched?: { start: number; stop: number },
  more: readonly { time: number; topic: string; text: string }[] = [],
) {
  const events = [{ time: begin, topic: 'program-started', text: '' }, ...more];
  if (end !== undefined) events.push({ time: end, topic: 'program-ended', text: '' });
  const tasks = ['w0', 'w1'].map((worker) => ({ key: `step-${worker}`, worker, started: 0, stopped: 4 }));
  const transfers =
    fetched === undefined
      ? []
      : [{ ...fetched, worker: 'w0', what: 'gather' as const, direction: 'outgoing' as const, nbytes: 8e8 }];
  return syntheticTrace({ tasks, events, transfers });
}

describe('a program', () => {
  it('has times before its first computation and after its last result', () => {
    assert.deepEqual(programTimes(recorded(-3, 14)), { before: 3, starting: 0, after: 10 });
    assert.deepEqual(programTimes(recorded(-3, undefined)), { before: 3, starting: 0, after: 0 });
    assert.equal(
      programTimes(syntheticTrace({ tasks: [{ key: 'a-1', started: 0, stopped: 1 }] })),
      undefined,
    );
    assert.equal(
      programTimes(syntheticTrace({ events: [{ time: 0, topic: 'program-started', text: '' }] })),
      undefined,
    );
  });

  it('whose tasks had not ended did not run alone after its last result', () => {
    const text = '2 tasks had not ended when the program ended: 2 ran (a-1 on w0 for up to 10 s).';
    const trace = recorded(-3, 14, undefined, [{ time: 14, topic: 'tasks-cut-off', text }]);
    assert.deepEqual(programTimes(trace), { before: 3, starting: 0, after: 0 });
    assert.ok(!findings(trace).some(({ code }) => code === 'outside-computations'));
  });

  it('that mostly runs outside of its computations has this as its first finding', () => {
    const [first, ...others] = findings(recorded(-3, 14));
    assert.equal(first?.code, 'outside-computations');
    assert.equal(
      first?.title,
      'The program ran for 10 s after its last result, and its computations took 4 s',
    );
    assert.equal(first?.seconds, 10);
    assert.deepEqual(others, findings(recorded(-3, 4)));
    assert.match(findings(recorded(-30, 14))[0]?.title ?? '', /^The program ran for 30 s before its first/);
  });

  it('that waits for the start of its cluster is not advised to do this in tasks', () => {
    const starts = (begin: number) => [
      { time: begin, topic: 'cluster-starting', text: '' },
      { time: -1, topic: 'cluster-started', text: '' },
      // A second cluster starts while tasks run.
      { time: 1, topic: 'cluster-starting', text: '' },
      { time: 2, topic: 'cluster-started', text: '' },
    ];
    assert.deepEqual(programTimes(recorded(-10, 4, undefined, starts(-8))), {
      before: 10,
      starting: 7,
      after: 0,
    });
    const [first] = findings(recorded(-10, 4, undefined, starts(-8)));
    assert.equal(
      first?.title,
      'The program waited 7 s for the start of its cluster, and its computations took 4 s',
    );
    assert.match(first?.advice ?? '', /^Start the cluster once/);
    const [longer] = findings(recorded(-10, 4, undefined, starts(-3)));
    assert.match(longer?.title ?? '', /^The program ran for 10 s before its first/);
    assert.match(longer?.evidence.text ?? '', /, 2 s of it until its cluster had started, and for/);
  });

  it('that starts several clusters at the same time waits for them once', () => {
    const starts = [
      [-8, -2],
      [-7, -1],
    ].flatMap(([begin = 0, end = 0]) => [
      { time: begin, topic: 'cluster-starting', text: '' },
      { time: end, topic: 'cluster-started', text: '' },
    ]);
    assert.equal(programTimes(recorded(-10, 4, undefined, starts))?.starting, 7);
  });

  it('that fetches results after its last task is advised to fetch less, not to do this in tasks', () => {
    const [first] = findings(recorded(-3, 14, { start: 4, stop: 12 }));
    assert.deepEqual([first?.code, first?.seconds], ['outside-computations', 10]);
    assert.equal(
      first?.title,
      'The program fetched 800 MB of results for 8 s after its last task, and its computations took 4 s',
    );
    assert.match(first?.advice ?? '', /^Fetch less: /);
    const [short] = findings(recorded(-3, 14, { start: 4, stop: 6 }));
    assert.match(short?.title ?? '', /^The program ran for 10 s after its last result/);
  });

  it('that starts slowly or closes slowly does not', () => {
    for (const [begin, end] of [
      [-4.9, 8.9],
      [-3, 7.9],
    ] as const)
      assert.ok(findings(recorded(begin, end)).every(({ code }) => code !== 'outside-computations'));
  });
});

// The cause that a finding names is the right one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import type { Finding, FindingCode } from './finding.js';
import { findings } from './findings.js';
import { balanced, cpu, many } from './workloads.test.support.js';

const found = (spec: SyntheticSpec, own: FindingCode): Finding | undefined =>
  findings(syntheticTrace(spec)).find(({ code }) => code === own);

/** A worker runs 120 tasks of 0.1 s. Before each of them passes 0.1 s, in which the client may send its arguments. */
function oneArgumentEach(isSent: boolean): SyntheticSpec {
  const starts = Array.from({ length: 120 }, (_, i) => 0.2 * i + 0.1);
  return {
    tasks: starts.map((started, i) => ({
      key: `fit-${i}`,
      submitted: 0,
      ready: 0,
      dispatched: started - 0.1,
      received: started,
      started,
      stopped: started + 0.1,
    })),
    transfers: starts
      .filter(() => isSent)
      .map((stop, i) => ({
        worker: 'w0',
        what: 'scatter',
        direction: 'incoming',
        keys: [`fit-${i}`],
        nbytes: 2e6,
        start: stop - 0.1,
        stop,
      })),
  };
}

test('tasks are not too small if the client sends their arguments in the time between them', () => {
  assert.ok(found(oneArgumentEach(false), 'tasks-too-small'));
  assert.equal(found(oneArgumentEach(true), 'tasks-too-small'), undefined);
  assert.ok(found(oneArgumentEach(true), 'oversized-arguments'));
});

/** Two workers die one after the other, while they run tasks of these prefixes; a third one runs both tasks in the end. */
function killed(first: string, second: string): SyntheticSpec {
  const at = (key: string, worker: string, from: number, attempt: number) => ({
    key,
    worker,
    attempt,
    submitted: 0,
    ready: from,
    dispatched: from,
  });
  const lost = (key: string, worker: string, from: number, attempt: number) => ({
    ...at(key, worker, from, attempt),
    started: Number.NaN,
    stopped: Number.NaN,
    acknowledged: from + 3,
    state: 'lost' as const,
  });
  return {
    workers: [
      { name: 'w0', stopped: 3 },
      { name: 'w1', stopped: 6 },
    ],
    events: [3, 6].map((time, i) => ({
      time,
      worker: `w${i}`,
      topic: 'worker-lost',
      text: 'The process ended.',
    })),
    tasks: [
      lost(`${first}-0`, 'w0', 0, 1),
      lost(`${second}-0`, 'w1', 3, first === second ? 2 : 1),
      ...new Set([first, second]),
    ].map((task) =>
      typeof task === 'string'
        ? { ...at(`${task}-0`, 'w2', 6, first === second ? 3 : 2), started: 6, stopped: 8 }
        : task,
    ),
  };
}

test('lost-work names the function that all lost workers ran when they ended, also if a task was lost twice', () => {
  const own = found(killed('crash', 'crash'), 'lost-work');
  assert.match(own?.title ?? '', /^2 workers were lost, .*: 1 task was computed again/);
  assert.match(own?.evidence.text ?? '', /Each of these workers ended while it ran 'crash'\./);
  assert.match(own?.advice ?? '', /^Look in 'crash' for/);
  const others = found(killed('crash', 'fit'), 'lost-work');
  assert.doesNotMatch(others?.evidence.text ?? '', /ended while it ran/);
  assert.match(others?.advice ?? '', /^Read the logs/);
});

test('lost-work does not blame the function whose tasks ran on a machine that does not answer', () => {
  const { workers = [], ...rest } = killed('crash', 'crash');
  const reason = 'The Dask worker tcp://10.0.0.3:4000 has left: it does not answer: no longer listed.';
  const own = found({ ...rest, workers: workers.map((worker) => ({ ...worker, reason })) }, 'lost-work');
  assert.doesNotMatch(own?.evidence.text ?? '', /ended while it ran/);
  assert.match(own?.advice ?? '', /^Check that the machine of the Dask worker is up/);
});

test('unreachable-worker has the waits until a fetch failed, and explains the ones for tasks that were cancelled then', () => {
  const make = { key: 'make-0', submitted: 0, ready: 0 };
  const events = [31, 62].map((time) => ({
    time,
    topic: 'unreachable',
    text: "Worker 'w1' cannot reach 'w0'.",
  }));
  const spec: SyntheticSpec = {
    workers: [{ name: 'w0' }, { name: 'w1' }],
    tasks: [
      { ...make, worker: 'w0', started: 0, stopped: 1 },
      { ...make, worker: 'w0', attempt: 2, ready: 31, dispatched: 31, started: 31, stopped: 32 },
      { key: 'total-0', needs: ['make-0'], worker: 'w1', started: 62, stopped: 63, dispatched: 62 },
    ],
    events,
  };
  const [own] = findings(syntheticTrace(spec));
  assert.equal(own?.code, 'unreachable-worker');
  assert.equal(own?.title, 'The run waited 61 s for connections to workers that cannot be opened');
  assert.match(own?.evidence.text ?? '', /^2 attempts to fetch results failed. The first time: Worker 'w1'/);
  assert.ok(
    !findings(syntheticTrace({ ...spec, events: [] })).some(({ code }) => code === 'unreachable-worker'),
  );
  const cancelled = {
    ...make,
    worker: 'w0',
    started: Number.NaN,
    stopped: Number.NaN,
    dispatched: 32,
    acknowledged: 62,
  };
  const cut = findings(syntheticTrace({ tasks: [{ ...cancelled, state: 'cancelled' as const }], events }));
  assert.ok(!cut.some(({ code }) => code === 'cancelled-tasks'));
});

test('tasks on the thread of the program are no reason for more workers, but for worker threads', () => {
  const tasksOn = (worker: string): SyntheticSpec => ({
    workers: [{ name: worker }],
    tasks: Array.from({ length: 40 }, (_, i) => ({ key: `fit-${i}`, worker, started: i, stopped: i + 1 })),
  });
  assert.match(
    found(tasksOn('main'), 'worker-bound')?.advice ?? '',
    /^Run the tasks on worker threads, .* 'threads'/,
  );
  assert.match(found(tasksOn('threads-0'), 'worker-bound')?.advice ?? '', /^Use more workers/);
});

test('one thread is too few on a busy machine, too', () => {
  const codes = (workers: number): string[] => {
    const waiting = scheduled(many(20), { workers }).tasks.map((task) => ({ ...task, coreWait: 0.5 }));
    const resources = Array.from({ length: 301 }, (_, i) => ({
      time: i / 10,
      figures: { cpu: 50 * workers, host_cpu: 200, host_cores: 2 },
    }));
    return findings(syntheticTrace({ tasks: waiting, resources })).map(({ code }) => code);
  };
  assert.deepEqual(codes(1), ['worker-bound', 'cpu-oversubscription']);
  assert.deepEqual(codes(2), ['cpu-oversubscription']);
});

test('workers whose tasks are blocked for a part of their time do not compute all the time', () => {
  const metrics = cpu({ fit: [22, 18] }) ?? [];
  const own = found({ tasks: balanced(), metrics }, 'worker-bound');
  assert.match(own?.title ?? '', /which were busy 100 % of the time$/);
  assert.match(
    own?.evidence.text ?? '',
    / For 4\d % of their time, tasks held their threads without computing, mostly 'fit'\./,
  );
  assert.match(
    own?.advice ?? '',
    /^Use more workers, also more than cores, .* If they wait for each other, /,
  );
});

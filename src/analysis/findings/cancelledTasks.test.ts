import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASKS_CUT_OFF } from '../../protocol/eventTopics.js';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import { criticalPath } from '../criticalPath.js';
import { findings } from './findings.js';

/** After a first task, a program submits `ask` ten times, cancels it after 1 s, and then submits a task of 0.1 s. */
function withTimeLimit(state: 'cancelled' | 'none'): SyntheticSpec {
  const rounds = Array.from({ length: 10 }, (_, i): SyntheticTask[] => {
    const begin = 0.1 + 1.1 * i;
    const hung = {
      key: `ask-${i}`,
      submitted: begin,
      dispatched: begin,
      received: Number.NaN,
      started: Number.NaN,
      stopped: Number.NaN,
      acknowledged: begin + 1,
      state: 'cancelled' as const,
    };
    const next = { key: `fit-${i}`, submitted: begin + 1, started: begin + 1, stopped: begin + 1.1 };
    return state === 'none' ? [next] : [hung, next];
  });
  return { tasks: [{ key: 'fit-first', started: 0, stopped: 0.1 }, ...rounds.flat()] };
}

test('a program that cancels tasks after a time limit waited for these tasks, not for its next submission', () => {
  const trace = syntheticTrace(withTimeLimit('cancelled'));
  const [own, ...others] = findings(trace);
  assert.match(own?.title ?? '', /^The run waited 10 s for tasks that were cancelled: 10 runs of 'ask'/);
  assert.match(own?.evidence.text ?? '', /after 1 s in the median/);
  assert.ok(!others.some(({ code }) => code === 'client-bound'), JSON.stringify(others));
  const { byKind, byPrefix } = criticalPath(trace);
  assert.ok(!byKind.some(({ kind, seconds }) => kind === 'client time' && seconds > 1e-9));
  assert.ok(Math.abs(byPrefix.find(({ prefix }) => prefix === 'ask')!.seconds - 10) < 1e-6);
  assert.ok(findings(syntheticTrace(withTimeLimit('none'))).some(({ code }) => code === 'client-bound'));
});

test('the advice for a Dask cluster names a call of its client in Python', () => {
  const spec = withTimeLimit('cancelled');
  const advice = (address: string) =>
    findings(syntheticTrace({ ...spec, workers: [{ name: 'w0', threads: 1, address }] }))[0]?.advice ?? '';
  assert.match(advice('tcp://10.0.0.5:4000'), /with 'client\.call_stack\(\)' while it hangs/);
  assert.match(advice('thread://w0'), /with 'await client\.dump\(\)' while it hangs/);
  // A local scheduler has no client.
  assert.match(advice(''), /^Find out what 'ask' computes or waits for\. Or submit/);
});

test('tasks that a program did not await and cut off are not tasks for which it waited', () => {
  const task = (key: string, worker: string, dispatched: number, acknowledged: number): SyntheticTask => ({
    ...{ key, worker, submitted: 0.5, dispatched, acknowledged, state: 'cancelled' },
    ...{ received: Number.NaN, started: Number.NaN, stopped: Number.NaN },
  });
  const spec: SyntheticSpec = {
    called: 0,
    tasks: [task('a-0', 'w0', 0.5, 0.9), task('a-1', 'w1', 0.6, 1.2), task('a-2', 'w0', 0.7, 1.2)],
  };
  const codes = (events: SyntheticSpec['events']) =>
    findings(syntheticTrace({ ...spec, events: events ?? [] })).map(({ code }) => code);
  assert.ok(codes([]).includes('cancelled-tasks'));
  const cutOff = {
    topic: TASKS_CUT_OFF,
    text: '3 tasks had not ended when the client closed: 3 a.',
    time: 1.2,
  };
  assert.ok(!codes([cutOff]).includes('cancelled-tasks'));
});

test('a failed computation did not wait for its other tasks, which it cancelled', () => {
  const cancelled = (key: string, acknowledged: number): SyntheticTask => ({
    ...{ key, worker: 'w1', submitted: 0, dispatched: 0.1, acknowledged, state: 'cancelled' },
    ...{ received: Number.NaN, started: Number.NaN, stopped: Number.NaN },
  });
  const codes = (acknowledged: number) =>
    findings(
      syntheticTrace({
        tasks: [
          { key: 'load-1', worker: 'w0', started: 0.1, stopped: 1, state: 'erred' },
          cancelled('load-2', acknowledged),
        ],
      }),
    ).map(({ code }) => code);
  assert.ok(!codes(1.2).includes('cancelled-tasks'));
  // The program waited for it after the failure.
  assert.ok(codes(4).includes('cancelled-tasks'));
});

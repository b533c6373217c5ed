// First calls of functions: the time that is subtracted from durations, and its effect on predictions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import type { Trace } from '../../trace/trace.js';
import { simulate } from '../simulate.js';
import { FIRST_CALLS, takeWarmUp } from './warmUp.js';

const STEADY = 0.001;
/** Additional seconds of a call, as measured with programs that parse and count. */
const longer = (call: number): number =>
  call === 0 ? 0.03 : call < 4 ? 0.008 : call < 16 ? 0.002 : call < FIRST_CALLS ? 0.0006 : 0;

/** Independent calls, one after another on each worker. */
function calls(workers: number, count: number, seconds: (call: number) => number): Trace {
  const tasks = Array.from({ length: workers }, (_, worker) => {
    let now = 0;
    return Array.from({ length: count / workers }, (_, call) => {
      const started = now;
      now += seconds(call);
      return { key: `parse-${worker}.${call}`, worker: `w${worker}`, started, stopped: now };
    });
  });
  return syntheticTrace({ tasks: tasks.flat() });
}

const warming = (workers: number, count: number): Trace =>
  calls(workers, count, (call) => STEADY + longer(call));
const makespan = (workers: number, count: number): number =>
  Array.from({ length: count / workers }, (_, call) => STEADY + longer(call)).reduce((a, b) => a + b, 0);
const taken = (trace: Trace) => {
  const seconds = Float64Array.from(trace.tasks.duration);
  return { ...takeWarmUp(trace, seconds), seconds };
};

describe('first calls of a function', () => {
  it('become as short as later calls, and their additional time is estimated by number', () => {
    const { seconds, extra, kindOf } = taken(warming(2, 400));
    for (const one of seconds) assert.ok(Math.abs(one - STEADY) < 1e-9);
    for (const [call, one] of extra.entries()) assert.ok(Math.abs(one - longer(call)) < 1e-9, `call ${call}`);
    assert.ok(kindOf.every((kind) => kind === 0));
  });

  it('keep the total time: the subtracted time equals the additional time', () => {
    const before = calls(2, 400, (call) => (STEADY + longer(call)) * (1 + 0.5 * Math.sin(call * 7)));
    const { seconds, extra } = taken(before);
    const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum(before.tasks.duration) - sum(seconds) - 2 * sum(extra)) < 1e-9);
  });

  it('are predicted once per worker, for more and for fewer workers', () => {
    for (const [from, to] of [
      [1, 2],
      [2, 1],
      [1, 4],
      [4, 1],
    ] as const) {
      const predicted = simulate(warming(from, 800), { workers: to }).makespan;
      const seen = makespan(to, 800);
      assert.ok(Math.abs(predicted / seen - 1) < 0.02, `${from} → ${to}: ${predicted} instead of ${seen}`);
    }
  });

  it('are estimated for workers with few calls, too, and keep the total time for any number of functions', () => {
    const lane = (worker: string, prefix: string, count: number, from = 0) => {
      let now = from;
      return Array.from({ length: count }, (_, call) => {
        const started = now;
        now += STEADY + longer(call);
        return { key: `${prefix}-${worker}.${call}`, worker, started, stopped: now };
      });
    };
    const few = Array.from({ length: 7 }, (_, i) => lane(`w${i + 1}`, 'parse', 15)).flat();
    const trace = syntheticTrace({ tasks: [...lane('w0', 'parse', 100), ...few] });
    const found = taken(trace);
    for (const one of found.seconds) assert.ok(Math.abs(one - STEADY) < 1e-9);
    for (const [call, one] of found.extra.entries()) assert.ok(Math.abs(one - longer(call)) < 1e-9);
    const many = Array.from({ length: 40 }, (_, i) => lane('w0', `f${i}`, 64, i)).flat();
    const { seconds, extra } = taken(syntheticTrace({ tasks: many }));
    const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
    const before = sum(syntheticTrace({ tasks: many }).tasks.duration);
    assert.ok(Math.abs(sum(seconds) + sum(extra) - before) < 1e-9);
  });

  it('do not occur in a window that begins after them', () => {
    const trace = warming(4, 3200);
    const start = trace.tasks.started[400] ?? Number.NaN;
    const window = { start, stop: Number.POSITIVE_INFINITY };
    const seen = trace.tasks.started.filter((one) => one >= start).length * STEADY;
    const predicted = simulate(trace, { ...window, workers: 1 }).makespan;
    assert.ok(Math.abs(predicted / seen - 1) < 0.02, `${predicted} instead of ${seen}`);
  });

  it('take no longer if durations only vary, if tasks are few, or if the first tasks are large', () => {
    const nothing = (trace: Trace) => {
      const { extra, kindOf, seconds } = taken(trace);
      assert.equal(extra.length, 0);
      assert.ok(kindOf.every((kind) => kind === -1));
      assert.deepEqual(seconds, Float64Array.from(trace.tasks.duration));
    };
    nothing(calls(1, 400, (call) => STEADY * (1 + 0.3 * Math.sin(call * 5))));
    nothing(calls(2, 20, (call) => STEADY + longer(call)));
    // The longest task is first. At most 0.1 s of a first call of 10 s can be compilation.
    const { extra } = taken(calls(1, 100, (call) => 10 - call / 10));
    assert.ok(extra.reduce((a, b) => a + b, 0) < 0.4);
  });
});

// Critical paths of runs with a known path, and the property that parts cover the makespan without gaps.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../base/errors.js';
import fc from '../base/properties.test.support.js';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { type CriticalPath, criticalPath } from './criticalPath.js';
import { partsText, pathOf } from './pathTexts.test.support.js';
import { type ScheduledTask, scheduled } from './scheduledTrace.test.support.js';

const schedules = fc
  .record({
    rows: fc.array(
      fc.record({
        seconds: fc.double({ min: 0, max: 5, noNaN: true }),
        picks: fc.array(fc.nat(), { maxLength: 3 }),
        nbytes: fc.nat(20),
        wait: fc.nat(30),
      }),
      { minLength: 1, maxLength: 40 },
    ),
    workers: fc.integer({ min: 1, max: 4 }),
    overhead: fc.constantFrom(0, 0.25),
    latency: fc.constantFrom(0, 0.125),
    bandwidth: fc.constantFrom(1, 10, 1e9),
  })
  .map(({ rows, ...schedule }) => {
    const tasks = rows.map(
      ({ seconds, picks, nbytes, wait }, i): ScheduledTask => ({
        key: `t${i % 3}-${i}`,
        seconds,
        nbytes,
        needs: i === 0 ? [] : [...new Set(picks.map((pick) => `t${(pick % i) % 3}-${pick % i}`))],
        submitted: wait > 25 ? wait : 0,
      }),
    );
    return scheduled(tasks, schedule);
  });

function assertTiles(path: CriticalPath): void {
  const { parts, start, stop, makespan } = path;
  assert.ok(Math.abs(stop - start - makespan) < 1e-9);
  let cursor = start;
  for (const part of parts) {
    assert.equal(part.start, cursor);
    assert.ok(part.stop > part.start);
    cursor = part.stop;
  }
  assert.equal(cursor, stop);
  const byKind = path.byKind.reduce((sum, { seconds }) => sum + seconds, 0);
  assert.ok(Math.abs(byKind - makespan) < 1e-6);
}

describe('the critical path', () => {
  it('covers the makespan without gaps, for any schedule and window', () => {
    fc.assert(
      fc.property(
        schedules,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (spec, a, b) => {
          const trace = syntheticTrace(spec);
          const path = criticalPath(trace);
          assertTiles(path);
          assert.ok(path.floor <= path.makespan + 1e-9);
          const [from, to] = [Math.min(a, b), Math.max(a, b)];
          const { start, makespan } = path;
          const part = criticalPath(trace, { start: start + from * makespan, stop: start + to * makespan });
          assertTiles(part);
          assert.ok(part.floor <= part.makespan + 1e-9);
        },
      ),
    );
  });

  it('has no gaps if tasks overlap on a thread, clocks differ, or runs are lost', () => {
    const rows = fc.array(
      fc.record({
        started: fc.nat(20),
        seconds: fc.nat(5),
        worker: fc.constantFrom('a', 'b'),
        picks: fc.array(fc.nat(), { maxLength: 2 }),
        state: fc.constantFrom('memory', 'memory', 'erred', 'lost'),
        submitted: fc.nat(20),
      }),
      { minLength: 1, maxLength: 25 },
    );
    fc.assert(
      fc.property(rows, (runs) => {
        const tasks = runs.map(
          ({ started, seconds, picks, submitted, ...rest }, i) =>
            ({
              ...rest,
              key: `x-${i}`,
              started,
              stopped: started + seconds,
              submitted: Math.min(started, submitted),
              needs: i === 0 ? [] : picks.map((pick) => `x-${pick % i}`),
            }) as const,
        );
        const trace = syntheticTrace({ tasks });
        const path = criticalPath(trace);
        if (Number.isNaN(path.makespan)) assert.equal(path.parts.length, 0);
        else assertTiles(path);
      }),
    );
  });

  it('follows the last input', () => {
    const path = pathOf([
      { key: 'a-1', started: 0, stopped: 1, worker: 'w0' },
      { key: 'b-1', started: 0, stopped: 4, worker: 'w1' },
      { key: 'c-1', started: 5, stopped: 7, worker: 'w0', needs: ['a-1', 'b-1'], received: 5 },
    ]);
    assert.deepEqual(partsText(path), [
      'compute b-1 0..4',
      'waiting for the scheduler c-1 4..5',
      'compute c-1 5..7',
    ]);
    assert.equal(path.floor, 6);
    assert.deepEqual(path.byPrefix, [
      { prefix: 'b', seconds: 4, parts: [{ kind: 'compute', seconds: 4 }] },
      {
        prefix: 'c',
        seconds: 3,
        parts: [
          { kind: 'compute', seconds: 2 },
          { kind: 'waiting for the scheduler', seconds: 1 },
        ],
      },
    ]);
    assert.deepEqual(path.byWorker, [
      { worker: 'w1', seconds: 4 },
      { worker: 'w0', seconds: 3 },
    ]);
  });

  it('begins with the call of the client that submits the first tasks, as client time', () => {
    const path = pathOf([{ key: 'a-1', started: 5, stopped: 6, submitted: 4, received: 4 }], { called: 1 });
    assert.deepEqual(partsText(path), ['client time 1..4', 'worker start a-1 4..5', 'compute a-1 5..6']);
    assert.deepEqual([path.makespan, path.floor], [5, 4]);
  });

  it('ends with the result that the client knew last, although another task stopped later', () => {
    const path = pathOf([
      { key: 'a-1', worker: 'w0', started: 0, stopped: 3, acknowledged: 6 },
      { key: 'b-1', worker: 'w1', started: 0, stopped: 4, acknowledged: 5 },
    ]);
    assert.deepEqual(partsText(path), ['compute a-1 0..3', 'waiting for the scheduler a-1 3..6']);
  });

  it('the floor includes tasks that the client submitted after a result, and its pauses', () => {
    const steps = Array.from({ length: 4 }, (_, i) => ({
      key: `step-${i}`,
      submitted: 3 * i,
      started: 3 * i + 1,
      stopped: 3 * i + 2,
      acknowledged: 3 * i + 2,
    }));
    // Four seconds of computing, and three pauses of one second.
    assert.equal(pathOf(steps).floor, 7);
    assert.equal(pathOf(steps.map((step) => ({ ...step, submitted: 0 }))).floor, 1);
  });

  it('contains the time of the client before it submitted more tasks', () => {
    const path = pathOf([
      { key: 'a-1', started: 1, stopped: 2, submitted: 0, received: 1, acknowledged: 2.5 },
      { key: 'b-1', started: 5, stopped: 6, submitted: 4, received: 5, computation: 2 },
    ]);
    assert.deepEqual(partsText(path), [
      'worker start a-1 0..1',
      'compute a-1 1..2',
      'waiting for the scheduler a-1 2..2.5',
      'client time 2.5..4',
      'waiting for the scheduler b-1 4..5',
      'compute b-1 5..6',
    ]);
  });

  it('consists of client time if the client submits tasks one by one', () => {
    const tasks = Array.from({ length: 10 }, (_, i) => ({
      key: `a-${i}`,
      started: i,
      stopped: i + 2.25,
      submitted: i,
      worker: `w${i % 3}`,
    }));
    assert.deepEqual(partsText(pathOf(tasks)), ['client time 0..9', 'compute a-9 9..11.25']);
  });

  it('finds the result for which the client waited while other tasks ran', () => {
    const tasks = [
      { key: 'other-0', started: 0, stopped: 10, worker: 'w1' },
      { key: 'step-0', started: 0, stopped: 4 },
      { key: 'step-1', started: 4.5, stopped: 11, submitted: 4.5, computation: 2 },
    ];
    assert.deepEqual(partsText(pathOf(tasks)), [
      'compute step-0 0..4',
      'client time 4..4.5',
      'compute step-1 4.5..11',
    ]);
  });

  it('has parts of kind unknown without recorded submissions', () => {
    const unknown = {
      submitted: Number.NaN,
      ready: Number.NaN,
      dispatched: Number.NaN,
      received: Number.NaN,
      acknowledged: Number.NaN,
    };
    const path = pathOf([
      { key: 'a-1', started: 1, stopped: 2, ...unknown },
      { key: 'x-1', started: 2, stopped: 3, ...unknown },
      { key: 'b-1', started: 4, stopped: 6, needs: ['a-1'], ...unknown },
    ]);
    assert.deepEqual(partsText(path), [
      'compute a-1 1..2',
      'waiting for a worker b-1 2..3',
      'unknown b-1 3..4',
      'compute b-1 4..6',
    ]);
  });

  it('is a table and a summary', () => {
    const path = pathOf([
      { key: 'a-1', started: 0, stopped: 3 },
      { key: 'b-1', started: 3, stopped: 4, needs: ['a-1'] },
    ]);
    assert.equal(
      path.toTable().toCSV(),
      'Kind,Key,Prefix,Worker,Behind,Start (s),Duration (s)\ncompute,a-1,a,w0,,0,3\ncompute,b-1,b,w0,,3,1\n',
    );
    assert.equal(
      path.summary().toCSV(),
      'Kind,Prefix,Behind,Duration (s),Share of makespan (%)\ncompute,a,,3,75\ncompute,b,,1,25\n',
    );
  });

  it('sums up waits for a worker by the prefix that the worker ran', () => {
    const path = pathOf([
      { key: 'a-1', started: 1, stopped: 4, submitted: 0 },
      { key: 'b-1', started: 4, stopped: 5, submitted: 0, received: 0 },
    ]);
    assert.equal(
      path.summary().toCSV(),
      'Kind,Prefix,Behind,Duration (s),Share of makespan (%)\nwaiting for a worker,,a,3,60\nworker start,,,1,20\ncompute,b,,1,20\n',
    );
  });

  it('is empty for an empty trace, and refuses a window that ends before its start', () => {
    const path = pathOf([]);
    assert.deepEqual([path.parts, path.byKind, path.floor], [[], [], 0]);
    const trace = syntheticTrace({ tasks: [{ key: 'a-1', started: 0, stopped: 3 }] });
    assert.throws(
      () => criticalPath(trace, { start: 2, stop: 1 }),
      (error) => error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT',
    );
  });
});

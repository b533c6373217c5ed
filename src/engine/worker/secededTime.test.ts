import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock, test } from 'node:test';
import { contextMeter } from './contextMeter.js';
import { bench, clock, pass, runTimers, sleep, useFakeClock } from './contextMeter.test.support.js';
import { meterContext } from './meterContext.js';
import { SecededShares, SecededTime } from './secededTime.js';
import type { TaskMeter } from './taskMeter.js';
import { TaskMetering } from './taskMetering.js';

/** A thread whose clocks the test sets. */
function drivenThread() {
  const at = { now: 0, cpu: 0, idle: 0, slot: 0 };
  const shares = new SecededShares({
    now: () => at.now,
    cpuSeconds: () => at.cpu,
    idleSeconds: () => at.idle,
    get slotSeconds() {
      return at.slot;
    },
  });
  return { at, shares };
}

test('a seceded task that sleeps after its wait uses no time, also where signals shorten the idle time', () => {
  const { at, shares } = drivenThread();
  const tasks = Array.from({ length: 10 }, () => new SecededTime(shares, 0, false, false));
  // Signals of the profiler interrupt the wait: the event loop reports a third of it.
  Object.assign(at, { now: 0.5, cpu: 0.01, idle: 0.17 });
  const ends = tasks.map((task) => task.end(0.5));
  const used = ends.reduce((sum, { waited }) => sum + (0.5 - waited), 0);
  assert.ok(Math.abs(used - 0.01) < 1e-9, `${used} s`);
});

test('a thread that blocks its event loop is used, whatever its CPU time is', () => {
  const { at, shares } = drivenThread();
  const task = new SecededTime(shares, 0, false, false);
  Object.assign(at, { now: 2, cpu: 0.5 });
  assert.equal(task.end(2).waited, 0);
  assert.equal(task.outside.cpuSeconds, 0.5);
});

test('CPU time of the task in the slot is not counted for seceded tasks', () => {
  const { at, shares } = drivenThread();
  const task = new SecededTime(shares, 0, false, false);
  // 3 s: the slot's task computes for 1 s, the seceded task for 0.5 s, and the event loop is idle for 1.5 s.
  Object.assign(at, { now: 3, cpu: 1.5, idle: 1.5, slot: 1 });
  assert.equal(task.end(3).waited, 2.5);
  assert.equal(task.outside.cpuSeconds, 0.5);
});

test('where the CPU time is unknown, what the event loop reports as idle counts', () => {
  const { at, shares } = drivenThread();
  const task = new SecededTime(shares, 0, false, false);
  Object.assign(at, { now: 1, cpu: Number.NaN, idle: 0.4 });
  assert.ok(Math.abs(task.end(1).waited - 0.4) < 1e-9);
  assert.equal(task.outside.cpuSeconds, 0);
});

describe('the metrics of a seceded task', () => {
  beforeEach(() => {
    useFakeClock();
    mock.method(TaskMetering.prototype, 'idleSeconds', () => 0);
  });
  afterEach(() => mock.restoreAll());

  /** Runs a task that leaves its slot after 1 s, and returns its seconds by activity. */
  async function secededTask(inSlot: () => void, body: (task: TaskMeter) => Promise<void>) {
    const { metering, sums } = bench();
    const kind = metering.kind('task');
    const ran = meterContext.run(undefined, async () => {
      const start = clock();
      const task = metering.begin(kind, start);
      task.hasSeceded = true;
      inSlot();
      pass(1);
      metering.secede(task, kind, start, clock());
      await body(task);
      const { away } = task;
      assert.ok(away !== undefined);
      away.end(clock());
      metering.endSeceded(task, away, kind);
    });
    await runTimers();
    await ran;
    return sums('task');
  }

  it('contain the work after a meter around a wait', async () => {
    const seconds = await secededTask(
      () => undefined,
      async (task) => {
        await contextMeter.meter('wait', () => task.awaited(sleep(2)))();
        pass(0.5);
      },
    );
    assert.deepEqual(seconds, { wait: 2, 'thread-cpu': 0.75, 'thread-noncpu': 0.75 });
  });

  it('contain the time of a meter that opened in the slot once', async () => {
    let close: (() => void) | undefined;
    const seconds = await secededTask(
      () => {
        // A `using` declaration reads the function, too.
        close = contextMeter.meter('read')[Symbol.dispose];
      },
      async () => {
        pass(2);
        close?.();
        pass(0.5);
      },
    );
    assert.deepEqual(seconds, { read: 3, 'thread-cpu': 0.25, 'thread-noncpu': 0.25 });
  });

  it('do not contain the seconds twice that the task measured itself', async () => {
    const seconds = await secededTask(
      () => contextMeter.digestMetric('decode', 0.5, 'seconds'),
      async () => {
        pass(2);
        contextMeter.digestMetric('decode', 0.5, 'seconds');
      },
    );
    assert.deepEqual(seconds, { decode: 1, 'thread-cpu': 1.5, 'thread-noncpu': 0.5 });
  });

  it('are complete after a wait that outlived another task', async () => {
    const { metering, sums } = bench();
    const waits: (() => void)[] = [];
    for (const prefix of ['early', 'late']) {
      const kind = metering.kind(prefix);
      const task = metering.begin(kind, clock());
      task.hasSeceded = true;
      metering.secede(task, kind, clock(), clock());
      if (prefix === 'early') void task.awaited(new Promise<void>((resolve) => waits.push(resolve)));
      else pass(1);
      const { away } = task;
      assert.ok(away !== undefined);
      away.end(clock());
      metering.endSeceded(task, away, kind);
      for (const end of waits.splice(0)) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(sums('late'), { 'thread-cpu': 0.5, 'thread-noncpu': 0.5 });
  });
});

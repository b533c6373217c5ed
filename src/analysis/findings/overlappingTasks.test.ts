// Tasks that overlap while they await (`concurrentTasks`). Their waits for a core are not measured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { stragglersOf } from '../stragglers.js';
import { findings } from './findings.js';
import { cpu } from './workloads.test.support.js';

/** Tasks of two workers that use their thread for 0.1 s, a tenth of it on a core, and then await for 0.1 s. */
const overlapping: SyntheticSpec = {
  tasks: ['w0', 'w1'].flatMap((worker) =>
    Array.from({ length: 20 }, (_, i) => ({
      key: `load-${worker}-${i}`,
      worker,
      started: i / 10,
      seceded: (i + 1) / 10,
      resumed: (i + 2) / 10,
      stopped: (i + 2) / 10,
    })),
  ),
  metrics: cpu({ load: [0.4, 3.6] }) ?? [],
};

/** Samples of two cores, of which the program uses 0.2 and other programs the remaining part of `load`. */
const samples = (load: number): SyntheticSpec['resources'] =>
  Array.from({ length: 31 }, (_, i) => i / 10).flatMap((time) => [
    { time, figures: { cpu: 20, host_cpu: load, host_cores: 2 } },
    ...['w0', 'w1'].map((worker) => ({ time, worker, figures: { cpu: 10 } })),
  ]);

const found = (resources: SyntheticSpec['resources']) =>
  findings(syntheticTrace({ ...overlapping, resources: resources ?? [] }));

/**
 * A worker with two slots. In each of ten rounds, two tasks leave them after 0.05 s and end 1 s later. Meanwhile they
 * compute for `used` seconds each, and the thread has the CPU time of `percent`, all programs that of `machine`, as samples since
 * `from` show.
 */
const filling = ({ used = 0, percent = 0, machine = 0, from = 0 }): SyntheticSpec => ({
  tasks: Array.from({ length: 20 }, (_, i) => {
    const started = 1.1 * Math.floor(i / 2) + (i % 2) * 0.05;
    const seceded = started + 0.05;
    const waited = { seceded, resumed: seceded, stopped: started + 1.05, waited: 1 - used };
    return { key: `load-${i}`, submitted: 0, ready: 0, dispatched: started, started, ...waited };
  }),
  resources: Array.from({ length: 120 }, (_, i) => i / 10)
    .filter((time) => time >= from)
    .flatMap((time) => [
      { time, worker: 'w0', figures: { cpu: percent } },
      { time, figures: { cpu: percent, host_cpu: Math.max(percent, machine), host_cores: 2 } },
    ]),
});

describe('findings about tasks that overlap', () => {
  it('more slots are no advice for a thread that computes, measured or according to samples', () => {
    const costs = (work: Parameters<typeof filling>[0]): number =>
      findings(syntheticTrace(filling(work))).find(({ code }) => code === 'asynchronous-wait')?.seconds ?? 0;
    assert.ok(Math.abs(costs({}) / 8.6 - 1) < 0.1, String(costs({})));
    // The cost is the time in which the thread was idle: a local scheduler records no use of it by the tasks.
    assert.ok(Math.abs(costs({ percent: 50 }) / (costs({}) / 2) - 1) < 0.1, String(costs({ percent: 50 })));
    assert.equal(costs({ used: 0.5 }), 0);
    // Without samples, a thread is not known to be idle: five of nine waits.
    assert.ok(Math.abs(costs({ from: 5.5 }) - 4 * 0.95) < 0.1, String(costs({ from: 5.5 })));
    assert.equal(costs({ percent: 100 }), 0);
  });

  it('more slots are an uncertain advice while all cores are busy', () => {
    for (const [machine, confidence] of [
      [50, 'medium'],
      [200, 'low'],
    ] as const) {
      const [first] = findings(syntheticTrace(filling({ machine })));
      assert.deepEqual([first?.code, first?.confidence], ['asynchronous-wait', confidence]);
      assert.equal(first?.evidence.text.includes('all 2 cores were busy'), machine === 200);
    }
  });

  it('tasks that await in their slot before they leave it to wait for an event need no more slots', () => {
    const using = Array.from({ length: 20 }, (_, i) => {
      const times = {
        started: i / 4,
        seceded: (i + 1) / 4,
        resumed: 10 + i / 100,
        stopped: 10 + (i + 1) / 100,
      };
      return { key: `use-${i}`, worker: 'w1', submitted: 0, ready: 0, ...times };
    });
    const trace = syntheticTrace({
      tasks: [{ key: 'set-0', worker: 'w0', submitted: 0, started: 0, stopped: 10 }, ...using],
      intervals: using.map(({ key, started, seceded }) => {
        return { worker: 'w1', action: 'await', start: started, stop: seceded - 0.01, task: key } as const;
      }),
    });
    assert.ok(!findings(trace).some(({ code }) => code === 'asynchronous-wait'));
  });

  it('time without a core is a wait for a core while other programs keep all cores busy', () => {
    const [first, ...others] = found(samples(200));
    assert.deepEqual([first?.code, others], ['cpu-oversubscription', []]);
    assert.match(
      first?.title ?? '',
      /^Tasks wait for a core 80 % of their time: other programs keep 1\.8 of 2/,
    );
  });

  it('time without a core blocks the thread while cores are free', () => {
    const [first, ...others] = found(samples(40));
    assert.deepEqual([first?.code, first?.confidence, others], ['synchronous-io', 'medium', []]);
  });

  it('without samples of the machine, the cause of time without a core is not measured', () => {
    const [first] = found([]);
    assert.deepEqual([first?.code, first?.confidence], ['synchronous-io', 'low']);
    assert.match(
      first?.evidence.text ?? '',
      /or waits for a core, which are not measured for tasks that overlap\.$/,
    );
    assert.doesNotMatch(first?.advice ?? '', /fetch/);
  });

  it('the first calls are no stragglers, because they end with the others or await what the first one loads', () => {
    // Ten slots: calls use their thread for 0.2 ms and await for 0.2 s.
    const calls = (
      first: (i: number) => { readonly own: number; readonly used?: number; readonly whole: number },
    ) =>
      syntheticTrace({
        workers: [{ name: 'w0' }, { name: 'w1' }],
        tasks: Array.from({ length: 120 }, (_, i) => {
          const { own, used = 0, whole } = i < 10 ? first(i) : { own: 0.0002, whole: 0.2 };
          const started = 0.3 * Math.floor(i / 10) + (i % 10) * 0.001;
          const left = { seceded: started + own, resumed: started + own, waited: whole - own - used };
          return { key: `load-${i}`, ready: 0, started, stopped: started + whole, ...left };
        }),
        intervals: [{ worker: 'w0', action: 'gc', start: 0, stop: 0.15 }],
      });
    const named = (trace: ReturnType<typeof calls>) =>
      findings(trace).find(({ code }) => code === 'stragglers');
    const later = { own: 0.0002, whole: 0.2 };
    assert.equal(named(calls((i) => (i === 0 ? { own: 0.15, whole: 0.35 } : later))), undefined);
    assert.equal(named(calls(() => ({ own: 0.0002, used: 0.09, whole: 0.8 }))), undefined);
    const finding = named(calls((i) => (i === 3 ? { own: 0.6, whole: 0.8 } : later)));
    assert.equal(finding?.evidence.numbers['stragglers'], 1);
    assert.match(
      finding?.title ?? '',
      / a task of 'load' took 600 ms without its waits, the median is 200 µs$/,
    );
  });

  it('garbage collection while a task awaits does not explain that it takes long', () => {
    const tasks = Array.from({ length: 60 }, (_, i) => {
      const own = i === 20 ? 1 : 0.01;
      const started = i * 0.2;
      const left = { seceded: started + own, resumed: started + own, waited: 0.5 };
      return { key: `load-${i}`, ready: 0, started, stopped: started + own + 0.5, ...left };
    });
    const collecting = (start: number) =>
      syntheticTrace({
        workers: [{ name: 'w0' }, { name: 'w1' }],
        tasks,
        intervals: [{ worker: 'w0', action: 'gc', start, stop: start + 0.4 }],
      });
    assert.deepEqual(
      [4.1, 5.05].map((start) => stragglersOf(collecting(start)).map(({ why }) => why)),
      [['0.40 s of garbage collection'], ['']],
    );
  });
});

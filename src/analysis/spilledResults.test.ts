import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import type { Trace } from '../trace/trace.js';
import { findings } from './findings/findings.js';
import { simulate } from './simulate.js';
import { spilledResults } from './spilledResults.js';

const MB = 1e6;

/**
 * Two workers make results of 8 MB, write them to disk in 10 ms each, and read them back.
 *
 * @param ratio of the bytes in memory to those on disk
 */
function spilling(ratio: number, paused = false): Trace {
  const tasks: NonNullable<SyntheticSpec['tasks']>[number][] = [];
  const intervals: NonNullable<SyntheticSpec['intervals']>[number][] = [];
  const stored = (8 * MB) / ratio;
  for (let i = 0; i < 60; i++) {
    for (const worker of ['w0', 'w1']) {
      const [key, begin] = [`make-${worker}-${i}`, i * 0.08];
      const times = { submitted: 0, ready: 0, dispatched: begin, received: begin };
      tasks.push({ key, worker, ...times, started: begin, stopped: begin + 0.05, nbytes: 8 * MB });
      const stop = begin + 0.06;
      if (ratio > 1)
        intervals.push({
          worker,
          action: 'compress',
          start: stop - 0.01,
          stop: stop - 0.002,
          task: key,
          nbytes: 8 * MB,
        });
      const start = ratio > 1 ? stop - 0.002 : stop - 0.01;
      intervals.push({ worker, action: 'disk-write', start, stop, task: key, nbytes: stored });
    }
  }
  const pauses = paused
    ? tasks.flatMap(({ worker = '', stopped = 0 }) => [
        { time: stopped, worker, topic: 'worker-paused', text: '' },
        { time: stopped + 0.03, worker, topic: 'worker-unpaused', text: '' },
      ])
    : [];
  const sample = { worker: 'w0', managed: 16 * MB, unmanaged: 150 * MB, process: 166 * MB, tasks: 2 };
  return syntheticTrace({
    workers: ['w0', 'w1'].map((name) => ({ name, memoryLimit: 200 * MB })),
    tasks,
    intervals,
    memory: [{ ...sample, time: 4.9, spilled: 60 * stored }],
    events: pauses.sort((a, b) => a.time - b.time),
  });
}

describe('results on disk', () => {
  it('have the size that they had in memory, however well they are compressed', () => {
    for (const ratio of [1, 4, 400]) {
      const found = spilledResults(spilling(ratio));
      assert.ok(Math.abs(found.nbytes - 960 * MB) < 1, `${found.nbytes}`);
      assert.ok(Math.abs(found.ratio - ratio) < 1e-6, `${found.ratio}`);
      assert.ok(Math.abs(found.bandwidth / (8 * MB) / 100 - 1) < 1e-6, `${found.bandwidth}`);
    }
  });

  it('take as long in a simulation as they took, however well they are compressed', () => {
    const seconds = [1, 400].map((ratio) => simulate(spilling(ratio), { workers: 1 }).makespan);
    assert.ok(Math.abs(seconds[1]! / seconds[0]! - 1) < 0.05, String(seconds));
    // One worker has the work of both.
    assert.ok(seconds[1]! < 15, String(seconds));
  });

  it('need a memory limit of the size that they would have in memory', () => {
    for (const ratio of [1, 400]) {
      const text = findings(spilling(ratio, true)).map(({ advice }) => advice);
      assert.ok(
        text.some((one) => one.includes('from 200 MB to at least 923 MB')),
        text.join('\n'),
      );
    }
  });

  it('and pauses are no reason to make tasks larger', () => {
    const codes = (trace: Trace): string[] => findings(trace).map(({ code }) => code);
    assert.ok(codes(spilling(400)).includes('tasks-too-small'));
    assert.ok(!codes(spilling(400, true)).includes('tasks-too-small'));
  });
});

describe('results that Dask workers write to disk', () => {
  const spec = (seconds: number): SyntheticSpec => {
    const metric = (worker: string, unit: string, value: number) => {
      return { time: 4, worker, context: 'memory-monitor', activity: 'disk-write', unit, value };
    };
    return {
      workers: ['w0', 'w1'].map((name, i) => {
        return { name, address: `tcp://10.0.0.1:400${i}`, started: 0, memoryLimit: 600 * MB };
      }),
      tasks: ['w0', 'w1'].flatMap((worker) =>
        [0, 2].map((started) => {
          return { key: `make-${worker}-${started}`, worker, submitted: 0, started, stopped: started + 2 };
        }),
      ),
      memory: [{ time: 3, worker: 'w0', managed: 300 * MB, spilled: 420 * MB }],
      metrics: ['w0', 'w1'].flatMap((worker) => [
        metric(worker, 'seconds', seconds),
        metric(worker, 'bytes', 400 * MB),
      ]),
    };
  };

  it('are summed from the metrics, because the task stream of Dask does not have them', () => {
    const trace = syntheticTrace(spec(1));
    assert.equal(spilledResults(trace).nbytes, 800 * MB);
    const found = findings(trace).find(({ code }) => code === 'spill-bound');
    assert.equal(found?.seconds, 1);
    assert.match(found.title, /^Memory was short: 800 MB /);
    assert.match(found.advice, /from 600 MB to at least 1.2 GB/);
  });

  it('are no finding if the workers hardly wrote', () => {
    assert.ok(findings(syntheticTrace(spec(0.1))).every(({ code }) => code !== 'spill-bound'));
  });
});

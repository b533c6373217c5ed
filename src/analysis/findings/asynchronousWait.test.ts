import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import type { Finding } from './finding.js';
import { findings } from './findings.js';
import { cpuByPrefix } from './noncpu.js';
import { awaiting, cpu, many } from './workloads.test.support.js';

/** Tasks of a second on two workers, which await promises for nine tenths of it. */
function waiting(count: number): SyntheticSpec {
  const { tasks } = scheduled(many(count), { workers: 2 });
  return {
    tasks,
    metrics: cpu({ fit: [0.1 * count, 0.9 * count] }) ?? [],
    intervals: tasks.map(({ worker = 'w0', started, key }) => ({
      worker,
      action: 'await',
      start: started,
      stop: started + 0.9,
      task: key,
    })),
  };
}

const found = (spec: SyntheticSpec): Finding | undefined =>
  findings(syntheticTrace(spec)).find(({ code }) => code === 'asynchronous-wait');

/** 40 tasks that await for 0.8 s each, on a machine with two cores. */
const busy = (host_cpu: number, children?: (time: number) => number): Finding | undefined =>
  found({
    ...awaiting(0.8),
    resources: Array.from({ length: 121 }, (_, i) => ({
      time: i / 10,
      figures: {
        cpu: 10,
        host_cpu,
        host_cores: 2,
        ...(children === undefined ? {} : { children_cpu: children(i / 10) }),
      },
    })),
  });

describe('waits for promises', () => {
  it('are a hint only while all cores are busy, because tasks may wait for child processes', () => {
    const full = busy(200);
    assert.equal(full?.confidence, 'low');
    assert.match(
      full?.evidence.text ?? '',
      / For 100 % of this time, all 2 cores were busy, 1\.9 of them with other programs or with child processes of tasks\.$/,
    );
    assert.match(
      full?.advice ?? '',
      /^If they wait for child processes that compute, more of them .* not faster\./,
    );
    const free = busy(100);
    assert.equal(free?.confidence, 'high');
    assert.match(free?.advice ?? '', /^Let the tasks of a worker overlap/);
  });

  it('are waits for child processes if these used the cores, which more tasks at a time do not make faster', () => {
    const own = busy(200, (time) => 5 + time);
    assert.equal(own?.title, "Tasks of 'fit' wait for child processes, while all 2 cores are busy");
    assert.equal(own?.seconds, 6);
    assert.match(
      own?.evidence.text ?? '',
      /^Child processes used 12 s of CPU time, and tasks awaited promises for 31 s in total\. .* busy, 0\.\d of them with other programs\.$/,
    );
    assert.match(own?.advice ?? '', /^More tasks at a time are not faster/);
    // Child processes did not compute.
    const idle = busy(200, () => 5);
    assert.equal(idle?.confidence, 'medium');
    assert.match(idle?.advice ?? '', /^Let the tasks of a worker overlap/);
  });

  it('are waits for threads of the program that compute for tasks, e.g. for crypto, if these used the cores', () => {
    const threads = (percent: number, cores = 2, started = 0): Finding | undefined =>
      found({
        ...awaiting(0.8),
        workers: ['w0', 'w1', 'w2', 'w3'].map((name) => ({ name, started })),
        resources: Array.from({ length: 121 }, (_, i) => [
          {
            time: i / 10,
            figures: {
              cpu: percent,
              host_cpu: 200,
              host_cores: cores,
              children_cpu: 0,
              scheduler_core_time: 0.2 * (i / 10),
            },
          },
          { time: i / 10, worker: 'w0', figures: { cpu: 10 } },
        ]).flat(),
      });
    const own = threads(130);
    assert.equal(
      own?.title,
      "Tasks of 'fit' wait for other threads of the program, which compute, while all 2 cores are busy",
    );
    assert.match(
      own.evidence.text,
      /^Threads that run no tasks, .* used 1\d s of CPU time, and tasks awaited/,
    );
    assert.match(own.advice, /^More tasks at a time are not faster: make these operations of 'fit' faster/);
    // Workers that start later compute, too.
    const isFound = (percent: number, start: number): boolean =>
      / wait for other threads /.test(threads(percent, 2, start)?.title ?? '');
    const least = Array.from({ length: 100 }, (_, i) => 31 + i).find((percent) => isFound(percent, 0));
    assert.ok(least !== undefined && !isFound(least, 0.5) && isFound(least + 10, 0.5));
    // These threads also compile and collect garbage.
    assert.match(threads(40)?.advice ?? '', /^Let the tasks of a worker overlap/);
    // On a machine with free cores, the number of these threads may be the limit.
    assert.match(threads(130, 8)?.advice ?? '', /^Let the tasks of a worker overlap.* UV_THREADPOOL_SIZE/);
    assert.doesNotMatch(threads(40, 8)?.advice ?? '', /UV_THREADPOOL_SIZE/);
    // All four of them computed.
    const pool = threads(370, 8);
    assert.match(
      pool?.title ?? '',
      /^Tasks of 'fit' wait for the 4 threads on which Node runs crypto, .* all compute$/,
    );
    assert.match(pool?.advice ?? '', /^Start the program with more such threads: .* UV_THREADPOOL_SIZE/);
    // More than four computed, so there are more.
    assert.match(threads(700, 8)?.title ?? '', /wait for promises/);
  });

  it('are waits for such threads also in a run of half a second, if these used most of the time', () => {
    const { tasks } = scheduled(many(40, 0.05), { workers: 4 });
    const threads = (percent: number): Finding | undefined =>
      found({
        tasks,
        metrics: cpu({ fit: [0.4, 1.6] }) ?? [],
        intervals: tasks.map(({ worker = 'w0', started, key }) => {
          return { worker, action: 'await', start: started, stop: started + 0.04, task: key } as const;
        }),
        resources: Array.from({ length: 60 }, (_, i) => ({
          time: i / 100,
          figures: { cpu: percent, host_cpu: 200, host_cores: 2, children_cpu: 0, scheduler_core_time: 0 },
        })),
      });
    assert.match(threads(190)?.title ?? '', /wait for other threads of the program, which compute/);
    assert.match(threads(60)?.advice ?? '', /^Let the tasks of a worker overlap/);
  });

  it('are those of runs with a result: the metrics of failed runs do not divide their time', () => {
    const run = { worker: 'w0', ready: 0 };
    const trace = syntheticTrace({
      tasks: [
        { ...run, key: 'call-0', started: 0, stopped: 3, state: 'erred' },
        { ...run, key: 'call-1', started: 3, stopped: 4 },
      ],
      metrics: cpu({ call: [0.2, 0.8] }) ?? [],
      intervals: [{ worker: 'w0', action: 'await', start: 3, stop: 3.8, task: 'call-1' }],
    });
    const [own] = cpuByPrefix(trace);
    assert.ok(Math.abs((own?.awaited ?? 0) - 0.8) < 1e-9, JSON.stringify(own));
  });

  it('contain the measured waits of failed runs, which count only for their own run', () => {
    const run = { worker: 'w0', ready: 0 };
    const trace = syntheticTrace({
      tasks: [
        { ...run, key: 'call-0', started: 0, stopped: 3, state: 'erred' },
        { ...run, key: 'call-0', started: 3, stopped: 4, attempt: 2 },
      ],
      metrics: cpu({ call: [0.2, 0.8] }) ?? [],
      intervals: [
        { worker: 'w0', action: 'await', start: 0, stop: 2.9, task: 'call-0' },
        { worker: 'w0', action: 'await', start: 3, stop: 3.7, task: 'call-0' },
      ],
    });
    const [own] = cpuByPrefix(trace);
    assert.ok(Math.abs((own?.awaited ?? 0) - 3.6) < 1e-9, JSON.stringify(own));
  });

  it('suggest no more tasks at a time than there were, and cost what these can save', () => {
    assert.match(found(waiting(40))?.advice ?? '', /concurrentTasks: 9 \}/);
    const few = found(waiting(8));
    assert.match(few?.advice ?? '', /concurrentTasks: 4 \}/);
    // No task was ready while the last task of each worker ran.
    assert.ok(Math.abs((few?.seconds ?? 0) / (3 * 0.9) - 1) < 0.05, String(few?.seconds));
  });

  it('are calls of a shared object, which are named, if these are most of what tasks awaited', () => {
    const called = (milliseconds: number): Finding | undefined => {
      const spec = waiting(40);
      const call = { time: 1, worker: 'w0', prefix: 'fit', activity: "call Variable 'counter'" };
      const metrics = [
        ...(spec.metrics ?? []),
        { ...call, unit: 'count', value: 72_000 },
        { ...call, unit: 'milliseconds', value: milliseconds },
      ];
      return found({ ...spec, metrics });
    };
    const own = called(36_000);
    assert.match(
      own?.title ?? '',
      /^Tasks of 'fit' wait for calls of Variable 'counter' \d+ % of their time/,
    );
    assert.match(own?.evidence.text ?? '', /waited for 72,000 calls of Variable 'counter', of 500 µs each/);
    assert.match(own?.advice ?? '', /^Make fewer calls of Variable 'counter'/);
    assert.match(called(1000)?.title ?? '', /wait for promises/);
  });

  it('are no finding if no other task could have run meanwhile', () => {
    assert.equal(found(waiting(2)), undefined);
    assert.ok(found(waiting(4)));
  });
});

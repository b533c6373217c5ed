// Findings of local schedulers, which record the CPU time of threads, and no metrics of tasks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TASKS_CUT_OFF } from '../../protocol/eventTopics.js';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import type { Finding } from './finding.js';
import { findings } from './findings.js';
import { cpuByPrefix } from './noncpu.js';
import { balanced, many } from './workloads.test.support.js';

const WORKERS = ['w0', 'w1', 'w2', 'w3'];

/** Ten samples per second of each worker's thread, which uses `percent` of a core at a time. */
const sampled = (
  percent: (time: number, worker: string) => number,
): NonNullable<SyntheticSpec['resources']> =>
  Array.from({ length: 120 }, (_, i) =>
    WORKERS.map((worker) => ({
      time: i / 10,
      worker,
      figures: { cpu: percent(i / 10, worker) },
    })),
  ).flat();

/** Returns the percentage of a core that a worker used in a tenth of a second, from that of its tasks. */
function percentOf(tasks: readonly SyntheticTask[], of: (key: string) => number) {
  return (time: number, worker: string): number => {
    const seconds = tasks
      .filter((task) => task.worker === worker)
      .map(({ key, started, stopped }) => {
        const inside = Math.min(stopped, time) - Math.max(started, time - 0.1);
        return Math.max(0, inside) * of(key);
      });
    return 10 * seconds.reduce((sum, one) => sum + one, 0);
  };
}

const found = (spec: SyntheticSpec): readonly Finding[] => findings(syntheticTrace(spec));

describe('findings without metrics of tasks', () => {
  it('garbage collection is found by the samples of the workers', () => {
    const collected = (share: number): Finding | undefined => {
      const resources = sampled(() => 100).map(({ figures, ...sample }) => ({
        ...sample,
        figures: { ...figures, gc_time: share * sample.time },
      }));
      return found({ tasks: balanced(), resources }).find(({ code }) => code === 'garbage-collection');
    };
    assert.match(collected(0.5)?.title ?? '', /^Garbage collection takes \d\d % of the time of tasks$/);
    assert.equal(collected(0.05), undefined);
    // Most collections of a thread that is mostly idle are outside of its tasks.
    const [first] = balanced();
    const tasks = [first!, { ...first!, key: 'fit-late', started: 9, stopped: 10 }];
    const idle = found({ tasks, resources: [{ time: 10, worker: 'w0', figures: { gc_time: 1 } }] });
    assert.ok(!idle.some(({ code }) => code === 'garbage-collection'));
  });

  it('collections of tasks that had not ended do not count for the tasks that had', () => {
    const tasks = balanced();
    const end = Math.max(...tasks.map(({ stopped }) => stopped));
    const resources = sampled(() => 100).map(({ figures, ...sample }) => ({
      ...sample,
      figures: { ...figures, gc_time: sample.time > end ? 8 : 0.05 * sample.time },
    }));
    const has = (spec: SyntheticSpec): boolean =>
      found(spec).some(({ code }) => code === 'garbage-collection');
    const events = [{ time: 12, worker: '', topic: TASKS_CUT_OFF, text: '4 tasks had not ended.' }];
    assert.deepEqual([has({ tasks, resources }), has({ tasks, resources, events })], [true, false]);
  });

  it('tasks that wait are found by the CPU time of their threads', () => {
    const [first, ...others] = found({ tasks: balanced(), resources: sampled(() => 3) });
    assert.deepEqual([first?.code, others.length], ['synchronous-io', 0]);
    assert.match(
      first?.evidence.text ?? '',
      /^Tasks of 'fit' computed for 1\.2 s and were blocked for 39 s, by promises, synchronous I\/O or another thread: /,
    );
    assert.match(
      first?.advice ?? '',
      /^If 'fit' awaits promises, .*compute\(\{ concurrentTasks: 16 \}\)\. If it /,
    );
  });

  it('if all tasks of a cluster fail, nothing is said about local schedulers', () => {
    const tasks = balanced().map((task) => ({ ...task, state: 'erred' as const }));
    const workers = WORKERS.map((name) => ({ name, address: `thread://${name}` }));
    const [first] = found({ tasks, workers, resources: sampled(() => 3) });
    assert.match(first?.evidence.text ?? '', /: clusters do not measure this for tasks that fail\.$/);
    assert.match(first?.advice ?? '', /connect\(\{ concurrentTasks: 16 \}\)/);
  });

  it('tasks that compute are limited by their workers, also if waits for a core take most of their time', () => {
    const codes = (percent: number, coreWait: number) =>
      found({
        tasks: balanced().map((task) => ({ ...task, coreWait })),
        resources: sampled(() => percent),
      }).map(({ code }) => code);
    assert.deepEqual(codes(95, 0), ['worker-bound']);
    assert.deepEqual(codes(20, 0.8), ['cpu-oversubscription']);
  });

  it('of two prefixes on the same threads, the one that waits is named, with its seconds', () => {
    const { tasks = [] } = scheduled([...many(20, 0.5, 'load'), ...many(20, 0.5, 'fit')], { workers: 4 });
    const isLoad = (key: string) => key.startsWith('load');
    const spec = { tasks, resources: sampled(percentOf(tasks, (key) => (isLoad(key) ? 5 : 100))) };
    const [first] = found(spec);
    assert.match(
      first?.title ?? '',
      /^Tasks of 'load' block their thread without computing for 9\d % of their time$/,
    );
    const byPrefix = new Map(cpuByPrefix(syntheticTrace(spec)).map((row) => [row.prefix, row]));
    assert.ok(Math.abs((byPrefix.get('load')?.noncpu ?? 0) - 9.3) < 0.4, `${byPrefix.get('load')?.noncpu} s`);
    assert.ok((byPrefix.get('fit')?.noncpu ?? 1) < 0.5, `${byPrefix.get('fit')?.noncpu} s`);
  });

  it('a prefix whose time samples do not cover is assumed to compute, and the finding says that this is not known', () => {
    const late = sampled(() => 3).filter(({ time }) => time > 8);
    const assumed = found({ tasks: balanced(), resources: late });
    assert.deepEqual(
      assumed.map(({ code, confidence }) => [code, confidence]),
      [['worker-bound', 'low']],
    );
    assert.match(assumed[0]?.title ?? '', /, which were busy \d+ % of the time$/);
    assert.match(
      assumed[0]?.evidence.text ?? '',
      / The trace does not show whether tasks computed all the time\./,
    );
    const [known] = found({ tasks: balanced(), resources: sampled(() => 95) });
    assert.match(known?.title ?? '', /, which computed \d+ % of the time$/);
    assert.equal(known?.confidence, 'medium');
    assert.doesNotMatch(known?.evidence.text ?? '', /does not show/);
  });

  it('is not that after tasks of Dask have left their slots, which its metrics contain', () => {
    const workers = [{ name: 'w0', address: 'tcp://10.0.0.1:4000' }];
    const tasks = [0, 1, 2, 3].map((i) => ({
      key: `wait-${i}`,
      worker: 'w0',
      submitted: 0,
      started: 2 * i,
      stopped: 2 * i + 2,
      seceded: 2 * i + 0.5,
      resumed: 2 * i + 2,
    }));
    const metrics = [
      { time: 8, worker: 'w0', prefix: 'wait', activity: 'thread-cpu', value: 0.1 },
      { time: 8, worker: 'w0', prefix: 'wait', activity: 'thread-noncpu', value: 7.9 },
    ];
    const [waiting] = cpuByPrefix(syntheticTrace({ workers, tasks, metrics }));
    const blocked = (waiting?.noncpu ?? 0) + (waiting?.crowded ?? 0) + (waiting?.awaited ?? 0);
    assert.ok(Math.abs(blocked - 1.9) < 0.2, `${blocked} s`);
  });
});

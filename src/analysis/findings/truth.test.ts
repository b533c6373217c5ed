// Findings are true: costs equal the possible gain, no problem is reported twice, and the cause is right.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import type { Finding } from './finding.js';
import { findings } from './findings.js';
import {
  balanced,
  chain,
  cpu,
  fetching,
  many,
  packing,
  pausing,
  thinking,
} from './workloads.test.support.js';

const found = (spec: SyntheticSpec): Map<string, Finding> =>
  new Map(findings(syntheticTrace(spec)).map((finding) => [finding.code, finding]));

/** Shifts a run by the seconds that its workers take to start. */
function after<T extends { started: number; stopped: number }>(seconds: number, tasks: readonly T[]) {
  return tasks.map((task) => ({
    ...task,
    submitted: 0,
    ready: 0,
    dispatched: 0,
    started: task.started + seconds,
    stopped: task.stopped + seconds,
    received: task.started + seconds,
    acknowledged: task.stopped + seconds,
  }));
}

/** Tasks of a second, each submitted after the previous one has finished. */
const oneByOne = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    key: `step-${i}`,
    submitted: i * 1.01,
    started: i * 1.01,
    stopped: i * 1.01 + 1,
  }));

const TWO = [{ name: 'w0' }, { name: 'w1' }];

describe('the texts and costs of findings', () => {
  it('a program that awaits each result before it submits the next keeps one thread busy', () => {
    const own = found({ tasks: oneByOne(20), workers: TWO }).get('lack-of-parallelism');
    assert.match(
      own?.title ?? '',
      /submits tasks one after the other: on average, 1.0 of 2 threads are busy/,
    );
    assert.match(own?.advice ?? '', /before you await the first/);
    // All tasks at once would take 10 s on two threads. The pauses of the program are another finding.
    assert.ok(Math.abs((own?.seconds ?? 0) - 10) < 0.1, `${own?.seconds}`);
    const parallel = oneByOne(20).map((task, i) => ({ ...task, worker: `w${i % 2}` }));
    const together = scheduled(
      parallel.map(({ key }) => ({ key, seconds: 1 })),
      { workers: 2 },
    );
    assert.equal(found(together).get('lack-of-parallelism'), undefined);
  });

  it('a chain that leaves threads idle is blamed on the graph, and the advice is fewer workers than there were', () => {
    const lack = found({ tasks: scheduled(chain(20), { workers: 2 }).tasks, workers: TWO }).get(
      'lack-of-parallelism',
    );
    assert.match(lack?.title ?? '', /^The graph has too few parallel tasks: on average, 1.0 of 2/);
    assert.match(lack?.advice ?? '', /'step'.* 1 worker would take about as long/);
    const two = scheduled(
      [...chain(20), ...chain(19, [], 'other').map((task) => ({ ...task, seconds: 0.9 }))],
      {
        workers: 4,
      },
    );
    assert.match(found(two).get('lack-of-parallelism')?.advice ?? '', /2 workers would take about as long/);
  });

  it('a serial tail is found, once, however long the workers took to start', () => {
    const { tasks } = scheduled([...many(20), ...chain(5, ['fit-19'])], { workers: 4 });
    for (const seconds of [0, 5, 10]) {
      const codes = [...found({ tasks: after(seconds, tasks) }).keys()];
      assert.deepEqual(codes, ['serial-tail'], `${seconds} s`);
    }
  });

  it('a blocked thread costs the time in which another task was ready and no thread was free', () => {
    const metrics = cpu({ step: [5, 15] }) ?? [];
    assert.equal(found({ tasks: oneByOne(20), workers: TWO, metrics }).get('synchronous-io'), undefined);
    const chained = scheduled(chain(20), { workers: 2 });
    assert.equal(found({ ...chained, workers: TWO, metrics }).get('synchronous-io'), undefined);
    // Four threads run ten rounds; in the last round no task waits.
    const beside = found({ tasks: balanced(), metrics: cpu({ fit: [10, 30] }) ?? [] }).get('synchronous-io');
    assert.ok(Math.abs((beside?.seconds ?? 0) - 0.75 * 9) < 0.3, `${beside?.seconds}`);
    // All tasks wait for one thread.
    const alone = scheduled(many(20), { workers: 1 }).tasks;
    const own = found({ tasks: alone, metrics: cpu({ fit: [5, 15] }) ?? [] }).get('synchronous-io');
    assert.ok(Math.abs((own?.seconds ?? 0) - 0.75 * 19) < 0.5, `${own?.seconds}`);
  });

  /** Ten seconds of a machine whose two cores are busy with other programs. */
  const full: SyntheticSpec['resources'] = Array.from({ length: 101 }, (_, i) => i / 10).flatMap((time) => [
    { time, figures: { cpu: 10, host_cpu: 200, host_cores: 2 } },
    ...['w0', 'w1', 'w2', 'w3'].map((worker) => ({ time, worker, figures: { cpu: 2 } })),
  ]);

  it('the cost of other programs comes after the cost of the program itself', () => {
    const { tasks } = scheduled([...many(20), ...chain(5, ['fit-19'])], { workers: 4 });
    const waiting = tasks.map((task) => ({ ...task, coreWait: 0.8 }));
    const both = found({ tasks: waiting, resources: full });
    assert.deepEqual([...both.keys()], ['serial-tail', 'cpu-oversubscription']);
    assert.ok(both.get('serial-tail')!.seconds < both.get('cpu-oversubscription')!.seconds);
  });

  it('blocked tasks on a machine that is busy with other programs do not wait for a core', () => {
    const codes = (coreWait: number, onCore = 1) => {
      const metrics = cpu({ fit: [onCore, 40 - onCore] }) ?? [];
      const tasks = balanced().map((task) => ({ ...task, coreWait }));
      return [...found({ tasks, metrics, resources: full }).keys()];
    };
    assert.deepEqual(codes(0.05), ['synchronous-io']);
    assert.deepEqual(codes(Number.NaN), ['synchronous-io']);
    assert.deepEqual(codes(0.9, 4), ['cpu-oversubscription']);
    const serial = scheduled(chain(20), { workers: 2 });
    const blocked = cpu({ step: [1, 19] }) ?? [];
    const alone = [...found({ ...serial, workers: TWO, metrics: blocked, resources: full }).keys()];
    assert.deepEqual(alone, ['lack-of-parallelism']);
  });

  it('the advice gives a memory limit that avoids spilling and pauses', () => {
    const own = found(pausing(3)).get('memory-bound');
    assert.ok(Math.abs((own?.seconds ?? 0) - 3) < 1e-6);
    // 1 GB of results may fill 60 % of the limit, and the 1.4 GB of the process 70 %.
    assert.match(own?.advice ?? '', /^Raise the memory limit per worker from 1 GB to at least 2 GB, /);
    assert.match(
      own?.evidence.text ?? '',
      /^Workers made 1 pause\. The critical path waited 3 s for them\. /,
    );
  });

  it('memory that results do not take is that of tasks and modules', () => {
    const memory = [{ worker: 'w0', time: 5, managed: 1e6, unmanaged: 1.2e9 }];
    const own = found({ ...pausing(3), memory }).get('memory-bound');
    assert.match(
      own?.advice ?? '',
      / or keep less in tasks and in variables of their modules: results took at most 1 MB\.$/,
    );
    assert.match(own?.evidence.text ?? '', / No results were written to disk\.$/);
  });

  it('typed arrays are not advised if the results are typed arrays already', () => {
    const packed = (nbytes: number, resultType = 'Object'): SyntheticSpec => {
      const { tasks = [], intervals = [] } = packing(0.5);
      return {
        workers: [{ name: 'w0', address: 'thread://w0' }],
        tasks: tasks.map((task) => ({ ...task, resultType })),
        intervals: intervals.map((interval) => ({ ...interval, nbytes })),
      };
    };
    const advice = (spec: SyntheticSpec) => found(spec).get('serialization-bound')?.advice ?? '';
    // On a busy machine, memory is copied slowly.
    for (const type of ['Float64Array', 'BigInt64Array', 'Uint8ClampedArray', 'ArrayBuffer'])
      assert.match(advice(packed(10e6, type)), /^The results are typed arrays already, /, type);
    for (const type of ['Array', 'Map'])
      assert.match(advice(packed(10e6, type)), /^Return typed arrays/, type);
    assert.match(
      found(packed(10e6)).get('serialization-bound')?.advice ?? '',
      /^Return typed arrays.* Delayed instead of futures, whose results are always packed\.$/,
    );
    const own = found(packed(400e6)).get('serialization-bound');
    assert.match(own?.advice ?? '', /speed of memory already/);
    assert.match(
      own?.evidence.text ?? '',
      /took 20 s to pack 16 GB \(800 MB\/s\), most of it for results of 'fit'\.$/,
    );
  });

  it('the share of the path that waits for busy workers does not include the start of workers', () => {
    const skewed = scheduled(
      many(40).map((task, i) => (i < 30 ? { ...task, worker: 'w0' } : task)),
      { workers: 4 },
    ).tasks;
    const text = found({ tasks: after(30, skewed) }).get('worker-skew')?.evidence.text ?? '';
    const [, percent] = /Waits for busy workers take (\d+) % of the critical path/.exec(text) ?? [];
    assert.ok(Number(percent) > 40 && Number(percent) < 52, text);
  });

  it('the title says if other programs occupied the cores', () => {
    const samples = (hostCpu: number, own: number): SyntheticSpec['resources'] =>
      Array.from({ length: 101 }, (_, i) => i / 10).flatMap((time) => [
        { time, figures: { cpu: own, host_cpu: hostCpu, host_cores: 4 } },
        ...['w0', 'w1', 'w2', 'w3'].map((worker) => ({ time, worker, figures: { cpu: own / 4 } })),
      ]);
    const metrics = cpu({ fit: [16, 24] }) ?? [];
    const own = found({ tasks: balanced(), metrics, resources: samples(400, 160) ?? [] }).get(
      'cpu-oversubscription',
    );
    assert.match(own?.title ?? '', /other programs keep 2.4 of 4 cores busy/);
    assert.match(own?.evidence.text ?? '', / in total for a core while all 4 cores were busy\.$/);
  });

  it('a program that blocks the event loop is distinguished from a scheduler that handles tiny tasks', () => {
    // Two threads run a thousand tasks of 5 µs in each of ten batches; 90 ms pass between two batches.
    const batches = Array.from({ length: 10 }, (_, batch) =>
      scheduled(many(1000, 5e-6, `noop${batch}`), { workers: 2 }).tasks.map((task) => ({
        ...task,
        key: `noop-${batch}-${task.key}`,
        submitted: 0,
        ready: 0,
        dispatched: batch * 0.09,
        received: batch * 0.09,
        started: task.started + batch * 0.09,
        stopped: task.stopped + batch * 0.09,
        acknowledged: task.stopped + batch * 0.09 + (batch < 9 ? 0.02 : 0),
      })),
    ).flat();
    const resources = Array.from({ length: 10 }, (_, i) => ({
      time: (i + 1) * 0.09,
      figures: { eventLoopDelay: 0.085 },
    }));
    const samplesIn = (files: readonly string[]) =>
      Array.from({ length: 80 }, (_, i) => ({
        time: 0.01 + i / 100,
        worker: null,
        prefix: '',
        stack: ['main', 'step'],
        file: files[i % files.length] ?? '',
      }));
    const own = '/somewhere/longpole/dist/engine/cluster/clusterEngine.js';
    const codes = (files: readonly string[]) => [
      ...found({ tasks: batches, resources, samples: samplesIn(files) }).keys(),
    ];
    assert.equal(codes([own, '/somewhere/longpole/dist/base/words.js'])[0], 'tasks-too-small');
    assert.ok(!codes([own]).includes('event-loop-starvation'));
    assert.equal(codes(['/home/me/program.js'])[0], 'event-loop-starvation');
    assert.ok(!codes(['/home/me/program.js']).includes('tasks-too-small'));
    // Without samples, the cost of ten thousand tasks explains the blocked time.
    assert.equal([...found({ tasks: batches, resources }).keys()][0], 'tasks-too-small');
    const tiny = found({ tasks: batches, resources, samples: samplesIn([own]) }).get('tasks-too-small');
    assert.ok(Math.abs((tiny?.seconds ?? 0) - 9 * 0.0875) < 0.02, `${tiny?.seconds}`);
  });

  it('a long time between tasks is explained by large results of a local run, not by the size of the tasks', () => {
    const local = (overhead: number, resultType: string, metrics?: SyntheticSpec['metrics']): string[] => {
      const { tasks = [] } = scheduled(many(200, 0.005), { overhead });
      const run = { tasks: tasks.map((task) => ({ ...task, resultType })) };
      return [...found(metrics === undefined ? run : { ...run, metrics }).keys()];
    };
    assert.deepEqual(local(0.007, 'Float64Array'), ['serialization-bound']);
    assert.equal(local(0.007, 'number')[0], 'tasks-too-small');
    assert.equal(local(0.0009, 'Float64Array').includes('serialization-bound'), false);
    assert.ok(!local(0.007, 'Float64Array', cpu({ fit: [1, 0] })).includes('serialization-bound'));
    const { tasks = [] } = scheduled(many(200, 0.005), { overhead: 0.007 });
    const finding = found({ tasks: tasks.map((task) => ({ ...task, resultType: 'Map' })) }).get(
      'serialization-bound',
    );
    assert.match(
      finding?.title ?? '',
      /^7 ms pass between two tasks of 5\.1 ms, probably to copy their results$/,
    );
    assert.match(finding?.evidence.text ?? '', /100 % of the results are objects, most of type Map\./);
  });

  it('results that the client fetches and sends back as arguments are gathered-results', () => {
    const spec = (sent: number): SyntheticSpec => {
      const { transfers = [], tasks = [] } = fetching(false, 50e6);
      const back = {
        worker: 'w0',
        what: 'scatter' as const,
        keys: ['fit-1'],
        nbytes: sent,
        start: 9.5,
        stop: 10,
      };
      return { tasks, transfers: [...transfers, back] };
    };
    const all = found(spec(50e6));
    const own = all.get('gathered-results');
    // The cost includes the way back.
    assert.match(
      own?.evidence.text ?? '',
      /^The critical path waited 5 s while the client fetched results and sent 50 MB back to the workers\.$/,
    );
    assert.deepEqual(own?.evidence.tasks, ['load-1']);
    assert.ok(!all.has('oversized-arguments'));
    assert.equal(found(spec(10e6)).get('gathered-results'), undefined);
    // So much more is not the same data.
    assert.match(
      found(spec(500e6)).get('gathered-results')?.evidence.text ?? '',
      /^The critical path waited 4\.5 s /,
    );
  });

  it('a fetch of results that costs little is found if sending them back takes long', () => {
    const transfer = { worker: 'w0', nbytes: 192e6 } as const;
    const all = found({
      tasks: [
        { key: 'make-1', started: 0, stopped: 4 },
        { key: 'sum-1', started: 9, stopped: 10, submitted: 4.2, received: 9, computation: 2 },
      ],
      transfers: [
        { ...transfer, what: 'gather', direction: 'outgoing', keys: ['make-1'], start: 4, stop: 4.1 },
        { ...transfer, what: 'scatter', keys: ['sum-1'], start: 4.2, stop: 8.9 },
      ],
    });
    assert.deepEqual([...all.keys()], ['gathered-results']);
    assert.equal(all.get('gathered-results')?.seconds.toFixed(1), '4.8');
  });

  it('the cost of client-bound is the time between results without the transfers in it', () => {
    const spec = fetching(false);
    const own = found({ ...spec, transfers: spec.transfers?.map((one) => ({ ...one, stop: 7 })) ?? [] });
    assert.ok(Math.abs((own.get('client-bound')?.seconds ?? 0) - 3) < 1e-6);
    const thinks = found(thinking(2)).get('client-bound');
    assert.ok(Math.abs((thinks?.seconds ?? 0) - 6) < 0.5, `${thinks?.seconds}`);
    assert.match(thinks?.evidence.text ?? '', /^In 3 pauses, /);
  });

  it('an event loop that is blocked because it sends arguments is reported as oversized-arguments', () => {
    const { tasks } = scheduled(many(8, 0.01), { workers: 2 });
    const late = after(0, tasks).map((task, i) => {
      const started = (i + 1) * 0.5;
      return { ...task, started, stopped: started + 0.01, received: started, acknowledged: started + 0.01 };
    });
    const codes = (nbytes: number) => [
      ...found({
        tasks: late,
        transfers: late.map(({ key, started }) => ({
          worker: 'w0',
          what: 'scatter',
          keys: [key],
          nbytes,
          start: started - 0.4,
          stop: started,
        })),
        resources: late.map(({ started }) => ({ time: started, figures: { eventLoopDelay: 0.4 } })),
      }).keys(),
    ];
    assert.deepEqual(codes(10e6), ['oversized-arguments']);
    assert.ok(codes(10).includes('event-loop-starvation'));
  });
});

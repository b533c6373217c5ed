// Findings about runs without the data that a rule compares: one worker, no input, several machines, dropped rows.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { timeByAction, timeByPrefix } from '../timeTables.js';
import type { Finding, FindingCode } from './finding.js';
import { findings } from './findings.js';
import { cpu, withSlowWorker } from './workloads.test.support.js';

/** 40 tasks of a second on four workers, without a gap. */
const even = () =>
  Array.from({ length: 40 }, (_, i) => ({
    key: `fit-${i}`,
    worker: `w${i % 4}`,
    started: Math.floor(i / 4),
    stopped: Math.floor(i / 4) + 1,
  }));

function found(spec: SyntheticSpec, code: FindingCode): Finding | undefined {
  return findings(syntheticTrace(spec)).find((finding) => finding.code === code);
}

describe('a straggler among tasks', () => {
  /** 30 tasks of a second, and one of ten seconds that needs 50 MB. */
  const withInput = (needs: readonly string[]): SyntheticSpec => ({
    tasks: [
      { key: 'src-0', started: 0, stopped: 1, nbytes: 50e6 },
      { key: 'src-1', started: 0, stopped: 1, worker: 'w1', nbytes: 5e6 },
      ...Array.from({ length: 30 }, (_, i) => ({
        key: `fit-${i}`,
        worker: `w${i % 4}`,
        started: 1 + Math.floor(i / 4),
        stopped: 2 + Math.floor(i / 4),
        needs,
        submitted: 0,
      })),
      { key: 'fit-99', needs: ['src-0'], started: 9, stopped: 19, submitted: 0 },
    ],
  });

  it('is described by its input if the other tasks have none, not by an infinite ratio', () => {
    const finding = found(withInput([]), 'stragglers');
    assert.match(finding?.evidence.text ?? '', /^Possible cause: 50 MB of input where others have none\. /);
    assert.match(finding?.advice ?? '', /^Look at the arguments of 'fit'/);
  });

  it('is named by its key, and its profile is mentioned only if the trace has one', () => {
    const finding = found(withInput([]), 'stragglers');
    assert.match(finding?.evidence.text ?? '', / took 9 s longer than the median: fit-99\.$/);
    assert.match(finding?.advice ?? '', /^Look at the arguments of 'fit' for this key/);
    const samples = [{ time: 10, worker: 'w0', prefix: 'fit', stack: ['fit'] }];
    assert.match(
      found({ ...withInput([]), samples }, 'stragglers')?.advice ?? '',
      /^Look at the profile of 'fit' for this key/,
    );
  });

  it('is named once if two computations have it', () => {
    const spec = withInput([]);
    const again = { key: 'fit-99', started: 19, stopped: 29, submitted: 19 };
    const finding = found({ tasks: [...(spec.tasks ?? []), again] }, 'stragglers');
    assert.match(
      finding?.evidence.text ?? '',
      /^.* the stragglers took 18 s longer than the median: fit-99\.$/,
    );
  });

  it('is described by the ratio of its input to that of other tasks, with the advice to divide the input', () => {
    const finding = found(withInput(['src-1']), 'stragglers');
    assert.match(finding?.evidence.text ?? '', /^Possible cause: 10 times the input\. /);
    assert.match(finding?.advice ?? '', /^Divide the input evenly/);
  });

  it('that awaited something has the advice to find out what', () => {
    const intervals = [{ worker: 'w0', action: 'await' as const, start: 9.1, stop: 18.9, task: 'fit-99' }];
    const finding = found({ ...withInput(['src-0']), intervals }, 'stragglers');
    assert.match(finding?.evidence.text ?? '', /of waiting for its promise/);
    assert.match(finding?.advice ?? '', /^Find out what 'fit' awaited for this key: /);
  });

  it('is not described by its input if the sizes of the inputs of other tasks were not recorded', () => {
    const spec = withInput(['src-1']);
    const tasks =
      spec.tasks?.map((task) => (task.key === 'src-1' ? { ...task, nbytes: Number.NaN } : task)) ?? [];
    const finding = found({ ...spec, tasks }, 'stragglers');
    assert.match(finding?.evidence.text ?? '', /^The trace shows no cause\. /);
    const { rows } = timeByPrefix(syntheticTrace({ tasks }));
    assert.equal(rows.find(({ Prefix }) => Prefix === 'src')?.['Results (MB)'], null);
  });

  it('is described by the time without CPU if nothing else explains it, e.g. of a stopped worker process', () => {
    const spec = withInput(['src-1']);
    const tasks =
      spec.tasks?.map((task) => (task.key === 'src-1' ? { ...task, nbytes: Number.NaN } : task)) ?? [];
    const { worker = 'w0' } = tasks.find(({ key }) => key === 'fit-99') ?? {};
    const text = (cpu: number, more: Partial<SyntheticSpec> = {}): string => {
      const resources = Array.from({ length: 300 }, (_, i) => ({ time: i / 10, worker, figures: { cpu } }));
      return found({ ...spec, tasks, resources, ...more }, 'stragglers')?.evidence.text ?? '';
    };
    assert.match(
      text(0),
      /^For 10 s it neither computed nor waited for a core: .*its process was stopped\. /,
    );
    assert.match(text(100), /^The trace shows no cause\. /);
    // A local scheduler does not measure what its tasks await, as a cluster does.
    const [local, cluster] = ['', 'thread://w0'].map((address) =>
      text(0, { workers: [{ name: worker, address }] }),
    );
    assert.match(local ?? '', / for a core: it awaited promises, or waited in a system call,/);
    assert.match(cluster ?? '', / for a core: it waited in a system call,/);
  });
});

describe('tasks that queue at a worker', () => {
  /** Two workers with the given busy seconds on each of their threads. */
  const busy = (first: readonly number[], second: readonly number[]): SyntheticSpec => ({
    workers: [
      { name: 'w0', threads: first.length },
      ...(second.length === 0 ? [] : [{ name: 'w1', threads: second.length }]),
    ],
    tasks: [first, second].flatMap((threads, worker) =>
      threads.flatMap((seconds, thread) =>
        Array.from({ length: seconds }, (_, i) => ({
          key: `fit-${worker}${thread}${i}`,
          worker: `w${worker}`,
          thread,
          started: i,
          stopped: i + 1,
          submitted: 0,
        })),
      ),
    ),
  });

  it('that is the only one are no finding, even if its threads are uneven', () => {
    assert.equal(found(busy([18, 3, 3, 3], []), 'worker-skew'), undefined);
    assert.equal(found(busy([18, 0, 0, 0], []), 'worker-skew'), undefined);
  });

  it('of several threads are found by a comparison of workers, not of threads', () => {
    // The first two workers computed equally long in total.
    assert.equal(found(busy([18, 3], [11, 10]), 'worker-skew'), undefined);
    const finding = found(busy([18, 18], [3, 3]), 'worker-skew');
    assert.match(
      finding?.evidence.text ?? '',
      /^'w0' computed for 18 s on each of its 2 threads; an even share is 11 s\./,
    );
  });

  it('are not idle while they run a task that is lost with them', () => {
    const { workers = [], tasks = [] } = busy([18], []);
    const lost = {
      ...tasks[0]!,
      key: 'hog-0',
      worker: 'w2',
      dispatched: 0,
      started: Number.NaN,
      stopped: Number.NaN,
      acknowledged: 17,
      state: 'lost' as const,
    };
    const trace = (also: readonly (typeof lost)[]) => ({
      workers: [...workers, { name: 'w2', stopped: 17 }],
      tasks: [...tasks, ...also],
    });
    assert.ok(found(trace([]), 'worker-skew'));
    assert.equal(found(trace([lost]), 'worker-skew'), undefined);
  });

  it('are found if the other workers ran no task at all', () => {
    const { tasks = [] } = busy([18], []);
    const bound = (started: number, stopped: number, first = {}, submitted = 0): Finding | undefined =>
      found(
        {
          tasks: tasks.map((task) => ({ ...task, submitted })),
          workers: ['w0', 'w1', 'w2'].map((name) =>
            name === 'w0' ? { name, ...first } : { name, started, stopped },
          ),
        },
        'worker-skew',
      );
    const finding = bound(0, 18);
    assert.ok(Math.abs((finding?.seconds ?? 0) - 12) < 0.7, String(finding?.seconds));
    assert.match(finding?.evidence.text ?? '', /an even share is 6 s\. .* 2 workers ran no task\.$/);
    // The other workers joined when the tasks had nearly ended, or had left when the tasks began.
    assert.equal(bound(17.5, 18), undefined);
    assert.equal(bound(-2, -1), undefined);
    // They may have been starting when the first worker had computed for no longer than its start took.
    assert.equal(bound(-18, 18, { started: -18 }, -18), undefined);
    // They had started if the program only submitted its first task late.
    assert.ok(bound(-18, 18, { started: -18 }));
    assert.ok(bound(-1, 18, { started: -1 }));
    // Processes of a foreign trace may be no workers.
    const processes = ['w0', 'w1', 'w2'].map((name) => ({ name, threads: Number.NaN }));
    assert.equal(found({ ...busy([18], []), workers: processes }, 'worker-skew'), undefined);
  });
});

describe('tasks that take longer on one worker', () => {
  it('are no finding if they wait there for a core, or if many tasks of other workers take as long', () => {
    const { tasks = [] } = withSlowWorker(3);
    const slow = (change: (task: (typeof tasks)[number]) => object) =>
      found({ tasks: tasks.map((task) => ({ ...task, ...change(task) })) }, 'slow-worker');
    assert.ok(Math.abs((slow(() => ({}))?.seconds ?? 0) - 24 / 3) < 0.5);
    // They wait for something that the tasks of other workers hold.
    const intervals = tasks
      .filter(({ worker }) => worker === 'w0')
      .map(({ key, started }) => {
        return { worker: 'w0', action: 'await', start: started, stop: started + 2, task: key } as const;
      });
    assert.equal(found({ tasks, intervals }, 'slow-worker'), undefined);
    // With a fixed division, the tasks may differ.
    const even = found({ tasks: tasks.filter(({ key }) => Number(key.split('-')[2]) < 12) }, 'slow-worker');
    assert.equal(even?.confidence, 'low');
    assert.match(
      even.advice,
      /^'w0' ran as many of these tasks as the others\. If they have more to do, divide /,
    );
    assert.equal(slow(() => ({}))?.confidence, 'medium');
    // A slow worker runs few tasks.
    const few = tasks.filter(({ worker, started }) => worker !== 'w0' || started >= 27);
    assert.ok(found({ tasks: few }, 'slow-worker'));
    assert.equal(found({ tasks: few.filter(({ key }) => key !== 'fit-w0-9') }, 'slow-worker'), undefined);
    assert.equal(
      slow(({ worker }) => ({ coreWait: worker === 'w0' ? 2 : 0 })),
      undefined,
    );
    // A tenth of the tasks of each other worker takes 2.8 s.
    const isLong = (key: string) => Number(key.split('-')[2]) % 10 === 0;
    assert.equal(
      slow(({ key, worker, started }) => (worker !== 'w0' && isLong(key) ? { stopped: started + 2.8 } : {})),
      undefined,
    );
  });
});

describe('tasks of all prefixes that wait for a core', () => {
  const waiting = (hosts: number, coreWait?: number): SyntheticSpec => ({
    workers: [0, 1, 2, 3].map((i) => ({ name: `w${i}`, host: `h${i % hosts}` })),
    tasks: Array.from({ length: 80 }, (_, i) => ({
      key: `${i % 2 === 0 ? 'load' : 'save'}-${i}`,
      worker: `w${i % 4}`,
      started: Math.floor(i / 4),
      stopped: Math.floor(i / 4) + 1,
      submitted: 0,
      ...(coreWait === undefined ? {} : { coreWait }),
    })),
    metrics: ['load', 'save'].flatMap((prefix) => [
      { time: 20, worker: 'w0', prefix, activity: 'thread-cpu', value: 24 },
      { time: 20, worker: 'w0', prefix, activity: 'thread-noncpu', value: 16 },
    ]),
  });

  it('are found if the system counted these waits, on one machine and on several', () => {
    for (const hosts of [1, 2]) {
      const finding = found(waiting(hosts, 0.4), 'cpu-oversubscription');
      assert.equal(finding?.confidence, 'high');
      // No sample of the machine shows what used the cores.
      assert.match(
        finding.title,
        /^Tasks wait for a core 40 % of their time: other programs use .* or there are more/,
      );
      assert.ok(Math.abs(finding.seconds - 8) < 0.1, `${finding.seconds}`);
    }
  });

  it('are waits for other programs if the run had one thread', () => {
    const tasks = (waiting(1, 0.4).tasks ?? []).map((task, i) => ({
      ...task,
      worker: 'w0',
      started: i,
      stopped: i + 1,
    }));
    const finding = found({ tasks }, 'cpu-oversubscription');
    assert.equal(finding?.title, 'Tasks wait for a core 40 % of their time: other programs use the cores');
    assert.equal(finding.advice, 'Stop other programs on the machine.');
  });

  it('count as tasks that sleep if no measurement distinguishes them', () => {
    for (const hosts of [1, 2]) assert.equal(found(waiting(hosts), 'cpu-oversubscription'), undefined);
  });
});

describe('totals of a run in a live trace that has dropped the first rows', () => {
  /** The last tenth of a run with a constant share of a fifth for garbage collection. */
  const lastTenth = () => {
    const trace = syntheticTrace({
      tasks: even(),
      metrics: [{ time: 1, worker: 'w0', prefix: 'fit', activity: 'gc', value: 80 }],
    });
    const actions = trace.totals.actions.map((sums) => ({ ...sums, seconds: sums.seconds * 10 }));
    return {
      ...trace,
      totals: { ...trace.totals, actions },
      evicted: { ...trace.evicted, tasks: 9 * trace.tasks.length },
    };
  };

  it('are scaled to the remaining rows before both are compared', () => {
    const finding = findings(lastTenth()).find(({ code }) => code === 'garbage-collection');
    assert.equal(finding?.title, 'Garbage collection takes 20 % of the time of tasks');
    assert.ok(Math.abs(finding.seconds - 2) < 1e-9, `${finding.seconds} s`);
  });

  it('give shares of the whole time of all threads', () => {
    const [compute] = timeByAction(lastTenth()).rows;
    assert.deepEqual([compute?.['Duration (s)'], compute?.['Share of worker time (%)']], [400, 100]);
  });
});

it('the cost of a finding is at most the makespan', () => {
  const gc = { time: 1, worker: 'w0', prefix: 'fit', activity: 'gc', value: 400 };
  const spec = { tasks: even(), metrics: [...(cpu({ fit: [30, 10] }) ?? []), gc] };
  assert.equal(found(spec, 'garbage-collection')?.seconds, 10);
});

it('garbage collection costs no waits for a core, and its advice is to keep less if memory was short', () => {
  const gc = { time: 1, worker: 'w0', prefix: 'fit', activity: 'gc', value: 20 };
  const spec = { tasks: even(), metrics: [...(cpu({ fit: [15, 5] }) ?? []), gc] };
  const alone = found(spec, 'garbage-collection');
  const tasks = spec.tasks.map((task) => ({ ...task, coreWait: 0.75 * (task.stopped - task.started) }));
  const events = [{ time: 5, worker: 'w0', topic: 'worker-paused', text: 'w0' }];
  const crowded = found({ ...spec, tasks, events }, 'garbage-collection');
  assert.ok(alone !== undefined && crowded !== undefined);
  assert.ok(Math.abs(crowded.seconds / alone.seconds - 0.25) < 1e-9, `${crowded.seconds}, ${alone.seconds}`);
  assert.match(alone.advice, /^Create fewer short-lived objects/);
  assert.match(crowded.advice, /^Memory was short, .* what tasks keep when they end/);
});

it('texts use the singular for a count of one', () => {
  const tasks = Array.from({ length: 4 }, (_, i) => ({
    key: `fit-${i}`,
    started: 5 + i,
    stopped: 6 + i,
    submitted: 0,
  }));
  const moved = { worker: 'w0', nbytes: 50e6, start: 0, stop: 5 };
  const sent = { tasks, transfers: [{ ...moved, what: 'scatter' as const, keys: ['x'] }] };
  assert.match(found(sent, 'oversized-arguments')?.evidence.text ?? '', / for 1 transfer from the client,/);
  const gc = { worker: 'w0', action: 'gc' as const, start: 5.1, stop: 7.5 };
  assert.match(
    found({ tasks, intervals: [gc] }, 'garbage-collection')?.evidence.text ?? '',
    /on 1 thread\.$/,
  );
  // The second task is sent 4 s after the first has stopped.
  const late = tasks.map((task, i) =>
    i === 0 ? task : { ...task, started: 9 + i, stopped: 10 + i, dispatched: 9 + i, received: 9 + i },
  );
  const spec = { tasks: late, resources: [{ time: 10, figures: { eventLoopDelay: 4 } }] };
  assert.match(found(spec, 'event-loop-starvation')?.evidence.text ?? '', /^In 1 sample the/);
  const fetched = {
    tasks: [
      { key: 'load-0', started: 0, stopped: 1 },
      { key: 'fit-0', needs: ['load-0'], started: 6, stopped: 7, submitted: 6 },
    ],
    transfers: [
      {
        worker: 'w0',
        what: 'gather' as const,
        direction: 'outgoing' as const,
        keys: ['load-0'],
        nbytes: 50e6,
        start: 1,
        stop: 6,
      },
    ],
  };
  assert.match(found(fetched, 'gathered-results')?.evidence.text ?? '', / Later tasks used 1 result\.$/);
});

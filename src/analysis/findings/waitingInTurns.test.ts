// Tasks that do not use their thread, for which more tasks at a time are no remedy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import type { Finding } from './finding.js';
import { findings } from './findings.js';
import { cpu, many } from './workloads.test.support.js';

const CODE = 'synchronous-io';

const found = (spec: SyntheticSpec): Finding | undefined =>
  findings(syntheticTrace(spec)).find(({ code }) => code === CODE);

/** Forty tasks of 1 s on threads of one Dask worker, which used a core for some of their seconds. */
function threadsOfOneWorker(onCore: number, threads = 4): SyntheticSpec {
  const { tasks = [], ...rest } = scheduled(many(40), { workers: threads });
  return {
    ...rest,
    workers: [{ name: 'w0', address: 'tcp://10.0.0.1:4000', threads }],
    tasks: tasks.map((task) => ({ ...task, worker: 'w0', thread: Number(task.worker?.slice(1)) })),
    metrics: cpu({ fit: [onCore, 40 - onCore] }) ?? [],
  };
}

test('threads of a Python process that compute in turns need more processes, not more threads', () => {
  const own = found(threadsOfOneWorker(10));
  assert.match(
    own?.title ?? '',
    /^Tasks of 'fit' compute in turns: the threads of a process together use 1.0 cores/,
  );
  assert.match(own?.advice ?? '', /^Use more worker processes with one thread each/);
  assert.doesNotMatch(own?.advice ?? '', /more threads/);
});

test('two threads that compute in turns are each blocked for half of their time', () => {
  const own = found(threadsOfOneWorker(20, 2));
  assert.match(own?.title ?? '', /compute in turns: the threads of a process together use 1.0 cores/);
  assert.equal(own?.confidence, 'low');
  // Threads that use more than one core do not wait for the GIL, and those that use less wait for something else, too.
  assert.equal(found(threadsOfOneWorker(23.5, 2)), undefined);
  assert.equal(found(threadsOfOneWorker(17, 2)), undefined);
});

test('waits for a core on machines without samples may be the time in which tasks of Dask block their thread', () => {
  const own = found(threadsOfOneWorker(2));
  assert.equal(own?.confidence, 'low');
  assert.match(own.evidence.text, /or waits for a core, which are only known for the scheduler's machine\.$/);
});

test('workers in one Python process that compute in turns need more processes', () => {
  const { tasks = [], ...rest } = threadsOfOneWorker(10);
  const titleOf = (pids: readonly number[]): string => {
    const trace = syntheticTrace({
      ...rest,
      workers: pids.map((_, i) => ({ name: `w${i}`, address: `tcp://10.0.0.1:400${i}`, threads: 1 })),
      tasks: tasks.map((task) => ({ ...task, worker: `w${task.thread ?? 0}`, thread: 0 })),
    });
    trace.workers.pid.set(pids);
    return findings(trace).find(({ code }) => code === CODE)?.title ?? '';
  };
  assert.match(titleOf([7, 7, 7, 7]), /compute in turns: the threads of a process together use 1.0 cores/);
  assert.match(titleOf([4, 5, 6, 7]), /block their thread without computing/);
});

test('threads that compute in turns use no more cores because they wait for some', () => {
  const resources = Array.from({ length: 12 }, (_, time) => ({
    time,
    figures: { cpu: 100, host_cpu: 150, host_cores: 2, workers_cpu: 100 },
  }));
  const title = found({ ...threadsOfOneWorker(10), resources })?.title ?? '';
  assert.match(title, /compute in turns: the threads of a process together use 1.0 cores/);
});

test('threads of a Python process that wait for I/O need more threads', () => {
  const own = found(threadsOfOneWorker(2));
  assert.match(own?.title ?? '', /block their thread without computing/);
  assert.match(own?.advice ?? '', /^Give each worker more threads than cores/);
  assert.match(own?.advice ?? '', /If they wait for each other, .* this does not help/);
});

/** Tasks that are blocked on a machine of four full cores, on which child processes used some CPU seconds. */
function besideChildren(seconds: number): SyntheticSpec {
  return {
    ...scheduled(many(40), { workers: 4 }),
    metrics: cpu({ fit: [1, 39] }) ?? [],
    resources: Array.from({ length: 12 }, (_, time) => ({
      time,
      figures: { cpu: 10, host_cpu: 400, host_cores: 4, children_cpu: (seconds * time) / 11 },
    })),
  };
}

test('tasks that block their thread until child processes have computed need faster child processes', () => {
  const own = found(besideChildren(30));
  assert.equal(own?.title, "Tasks of 'fit' wait for child processes, while all 4 cores are busy");
  assert.match(own.advice, /^More tasks at a time are not faster/);
  assert.ok(own.seconds <= 30 / 4);
  assert.match(found(besideChildren(0.1))?.title ?? '', /block their thread without computing/);
});

test('blocked tasks on a full machine may have waited for a core, if these waits are only estimated', () => {
  const spec = besideChildren(0);
  const own = found(spec);
  assert.equal(own?.confidence, 'low');
  assert.match(own.evidence.text, /all 4 cores were busy.* Waits for these cores are only estimated/);
  const measured = found({ ...spec, tasks: spec.tasks?.map((task) => ({ ...task, coreWait: 0.01 })) ?? [] });
  assert.equal(measured?.confidence, 'medium');
  assert.doesNotMatch(measured.evidence.text, /estimated/);
});

test('a few stalls of tasks that are otherwise short are no synchronous I/O while all cores are busy', () => {
  const spec = besideChildren(0);
  const tasks = Array.from({ length: 1000 }, (_, i) => {
    const started = Math.floor(i / 4) * 0.01;
    const seconds = i >= 996 ? 7 : 0.001;
    return { key: `fit-${i}`, worker: `w${i % 4}`, started, stopped: started + seconds, coreWait: 0 };
  });
  assert.equal(found({ ...spec, tasks, metrics: cpu({ fit: [1, 28] }) ?? [] }), undefined);
  const each = tasks.map((task) => ({ ...task, stopped: task.started + 0.009 }));
  assert.ok(found({ ...spec, tasks: each, metrics: cpu({ fit: [1, 8] }) ?? [] }));
});

test('rare short stalls of tiny tasks are no synchronous I/O, even if cores were free', () => {
  const foundWith = (stall: number): Finding | undefined => {
    let started = 0;
    const tasks = Array.from({ length: 1000 }, (_, i) => {
      const stopped = started + (i % 250 === 249 ? stall : 1e-6);
      const times = { submitted: 0, ready: 0, dispatched: 0, received: 0, started, stopped };
      started = stopped;
      return { key: `fit-${i}`, worker: 'w0', coreWait: 0, ...times };
    });
    return found({ tasks, metrics: cpu({ fit: [1e-3, 4 * stall] }) ?? [] });
  };
  assert.equal(foundWith(0.05), undefined);
  assert.ok(foundWith(0.2));
});

test('tasks whose threads acquire a lock of Dask need no more threads', () => {
  const { tasks = [] } = scheduled(many(40), { workers: 2 });
  const codes = (file: string) => {
    const samples = tasks.flatMap(({ worker = '', started }) =>
      [['fit'], ['fit', 'acquire', 'wait']].map((stack) => ({
        ...{ time: started + 0.5, worker, prefix: 'fit', stack, count: 50 },
        file: ['<dynamic-code>', file, 'python3.11/threading.py'].slice(0, stack.length),
      })),
    );
    const workers = ['w0', 'w1'].map((name) => ({ name, address: `tcp://10.0.0.1:${name}`, threads: 1 }));
    return findings(syntheticTrace({ tasks, workers, samples, metrics: cpu({ fit: [2, 38] }) ?? [] }));
  };
  const [own, ...others] = codes('/site-packages/distributed/semaphore.py');
  assert.equal(own?.title, "Tasks of 'fit' wait for a lock or semaphore of Dask for 50 % of their time");
  assert.ok(Math.abs(own.seconds - 10) < 0.5, `${own.seconds}`);
  assert.match(own.advice, /^Hold the lock only for the work that needs it/);
  assert.ok(!others.some(({ code }) => code === CODE));
  assert.deepEqual(
    codes('/site-packages/sqlalchemy/pool.py').map(({ code }) => code),
    [CODE],
  );
});

test('three threads of Longpole that together use one core may wait for each other, which is said with low confidence', () => {
  const threads = (workers: number, onCore: number) => {
    const spec = scheduled(many(42), { workers });
    return found({ ...spec, metrics: cpu({ fit: [onCore, 42 - onCore] }) ?? [] });
  };
  const own = threads(3, 14);
  assert.match(own?.title ?? '', /block their thread without computing for 6[67] %/);
  assert.equal(own?.confidence, 'low');
  assert.match(
    own.evidence.text,
    / All threads together used one core, .* as if their tasks waited for each other\.$/,
  );
  // Two do so if each waits for I/O for half of its time.
  assert.equal(threads(2, 21), undefined);
  // They use more or less than one core.
  assert.equal(threads(3, 18), undefined);
  assert.doesNotMatch(threads(3, 4)?.evidence.text ?? '', /one core/);
});

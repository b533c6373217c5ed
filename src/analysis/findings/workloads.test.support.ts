// Synthetic runs for the tests of rules. Each run has one problem; the caller chooses its size.
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import { type ScheduledTask, scheduled } from '../scheduledTrace.test.support.js';
import type { FindingCode } from './finding.js';
import { findings } from './findings.js';

/** Returns the codes of the findings of a run, in their order. */
export const codesOf = (spec: SyntheticSpec): FindingCode[] =>
  findings(syntheticTrace(spec)).map(({ code }) => code);

/** Independent tasks of `seconds` to 4 % more. */
export const many = (count: number, seconds = 1, prefix = 'fit'): ScheduledTask[] =>
  Array.from({ length: count }, (_, i) => ({
    key: `${prefix}-${i}`,
    seconds: seconds * (1 + (i % 5) / 100),
  }));

export const chain = (count: number, first: readonly string[] = [], prefix = 'step'): ScheduledTask[] =>
  Array.from({ length: count }, (_, i) => ({
    key: `${prefix}-${i}`,
    seconds: 1,
    needs: i === 0 ? first : [`${prefix}-${i - 1}`],
  }));

/** Forty independent tasks of 1 s on four workers, 10 s in total. */
export const balanced = (): SyntheticTask[] => scheduled(many(40), { workers: 4 }).tasks.slice();

/** Two hundred tasks of 10 ms, and six tasks of 1 ms that need all of them. */
export function slowBeforeBig(workers: number): SyntheticSpec {
  const slow = many(200, 0.01, 'slow');
  const needs = slow.map(({ key }) => key);
  const big = many(6, 1e-3, 'big').map((task) => ({ ...task, needs }));
  return scheduled([...slow, ...big], { workers });
}

/** The tasks of `balanced`, whose threads were inside `console.log` or another function in this many of 100 samples. */
export const printing = (
  samples: number,
  name = 'log',
  file = 'node:internal/console/constructor',
): SyntheticSpec => ({
  tasks: balanced(),
  samples: [
    { ...{ time: 1, prefix: 'fit', count: 100 - samples }, stack: ['fit'] },
    {
      ...{ time: 1, prefix: 'fit', count: samples, stack: ['fit', name, 'write'] },
      file: ['program.js', file, 'node:stream'],
    },
  ],
});

/** Events of lines that tasks printed. */
export const printed = (lines: number): NonNullable<SyntheticSpec['events']> =>
  Array.from({ length: lines }, () => ({ time: 1, worker: 'w0', topic: 'stdout', text: 'line' }));

/** The tasks of `balanced`, each of which waits `coreWait` seconds for a core. */
export const waitingForCores = (coreWait: number): SyntheticTask[] =>
  balanced().map((task) => ({ ...task, coreWait }));

/** Metrics from the seconds on a core and without a core of each prefix. */
export const cpu = (rows: Record<string, [number, number]>): SyntheticSpec['metrics'] =>
  Object.entries(rows).flatMap(([prefix, [on, off]]) => [
    { time: 1, worker: 'w0', prefix, activity: 'thread-cpu', value: on },
    { time: 1, worker: 'w0', prefix, activity: 'thread-noncpu', value: off },
  ]);

export const withCpuSamples = (percent: number, spec: SyntheticSpec): SyntheticSpec => ({
  ...spec,
  resources: [0, 1, 2, 3].map((i) => ({ time: 1, worker: `w${i}`, figures: { cpu: percent } })),
});

export function shuffle(bandwidth: number): SyntheticSpec {
  const maps = many(8, 1, 'map').map((task) => ({ ...task, nbytes: 100e6 }));
  const reduces = Array.from({ length: 8 }, (_, i) => ({
    key: `reduce-${i}`,
    seconds: 1,
    needs: maps.map(({ key }) => key),
  }));
  return scheduled([...maps, ...reduces], { workers: 4, bandwidth });
}

/** Three workers without a pause for 36 s, on one of which each task takes `seconds`, on the others 1 s. */
export const withSlowWorker = (seconds: number): SyntheticSpec => ({
  tasks: ['w0', 'w1', 'w2'].flatMap((worker) => {
    const each = worker === 'w0' ? seconds : 1;
    return Array.from({ length: 36 / each }, (_, i) => ({
      key: `fit-${worker}-${i}`,
      worker,
      started: i * each,
      stopped: (i + 1) * each,
      submitted: 0,
      ready: 0,
    }));
  }),
});

/** Short tasks on two workers, on each of which the first task takes `first` seconds. */
export const withSlowFirst = (first: number): SyntheticSpec =>
  scheduled(
    many(200, 5e-3).map((task, i) => (i < 2 ? { ...task, seconds: first } : task)),
    { workers: 2 },
  );

/** Forty tasks of 1 s and one that takes `longest`, which starts last (`last`) or first. */
export function withStraggler(longest: number, last: boolean): SyntheticSpec {
  const tasks = many(40);
  const slow = { key: 'fit-slow', seconds: longest };
  return scheduled(last ? [...tasks, slow] : [slow, ...tasks], { workers: 4 });
}

/** Forty tasks of 1 s, one that takes `seconds`, and forty more, which need that one if `holdsUp`. */
export function inTheMiddle(seconds: number, holdsUp: boolean): SyntheticSpec {
  const before = many(40);
  const all = { key: 'combine-0', seconds, needs: before.map(({ key }) => key) };
  const after = many(40, 1, 'apply').map((task) => ({ ...task, needs: [holdsUp ? all.key : 'fit-39'] }));
  return scheduled([...before, all, ...after], { workers: 4 });
}

/**
 * Four workers run 40 maps for 10 s, and then `w3` is lost. The 12 reduces on the other workers need all maps. The maps
 * of `w3` are computed again, unless `w3` had handed them over.
 */
export function losing(handedOver: boolean): SyntheticSpec {
  const maps = scheduled(many(40, 1, 'map'), { workers: 4 }).tasks;
  const lost = Math.max(...maps.map(({ stopped }) => stopped));
  const again = maps.filter(({ worker }) => worker === 'w3' && !handedOver);
  const repeated = again.map((task, i) => ({
    ...task,
    ...on(i, lost),
    attempt: 2,
    ready: lost,
    received: on(i, lost).started,
  }));
  const ready = Math.max(lost, ...repeated.map(({ stopped }) => stopped));
  const reduces = many(12, 1, 'reduce').map(({ key }, i) => ({
    key,
    ...on(i, ready),
    needs: maps.map((task) => task.key),
    received: on(i, ready).started,
  }));
  return { workers: [{ name: 'w3', stopped: lost }], tasks: [...maps, ...repeated, ...reduces] };
}

/** The place and times of the `i`th task of a second on the three remaining workers. */
const on = (i: number, from: number) => {
  const started = from + Math.floor(i / 3);
  return { worker: `w${i % 3}`, started, stopped: started + 1 };
};

export function spilling(diskSeconds: number): SyntheticSpec {
  return {
    workers: [{ name: 'w0', memoryLimit: 1e9 }],
    tasks: [
      { key: 'load-1', started: 0, stopped: 10, nbytes: 2e9 },
      { key: 'sum-1', started: 10 + diskSeconds, stopped: 20, needs: ['load-1'], received: 10 },
    ],
    intervals: [
      { worker: 'w0', action: 'disk-write', start: 5, stop: 6, nbytes: 2e9 },
      { worker: 'w0', action: 'disk-read', start: 10, stop: 10 + diskSeconds, nbytes: 2e9, task: 'sum-1' },
    ],
    memory: [{ worker: 'w0', time: 6, managed: 1e9, spilled: 2e9 }],
  };
}

/** A worker with 2 GB of results pauses for `seconds` before the next task. */
export const pausing = (seconds: number): SyntheticSpec => ({
  workers: [{ name: 'w0', memoryLimit: 1e9 }],
  tasks: [
    { key: 'load-1', started: 0, stopped: 5, nbytes: 2e9 },
    { key: 'sum-1', started: 5 + seconds, stopped: 10 + seconds, ready: 0, received: 5 + seconds },
  ],
  events: [
    { time: 4, worker: 'w0', topic: 'worker-paused', text: 'w0' },
    { time: 5 + seconds, worker: 'w0', topic: 'worker-unpaused', text: 'w0' },
  ],
  memory: [{ worker: 'w0', time: 5, managed: 0.8e9, unmanaged: 0.4e9, spilled: 0.2e9 }],
});

/** Each task of a second awaits a promise for `seconds`, which the metrics count as time without a core. */
export const awaiting = (seconds: number): SyntheticSpec => ({
  tasks: balanced(),
  metrics: cpu({ fit: [40 * (1 - seconds), 40 * seconds] }) ?? [],
  intervals: balanced().map(({ worker = 'w0', started, key }) => ({
    worker,
    action: 'await',
    start: started,
    stop: started + seconds,
    task: key,
  })),
});

/** A task takes 7 s longer than the others, because the profiler of its worker starts. */
/** Awaiting tasks of which at least one waits for a lock for some seconds, two on average. */
export const contending = (seconds: number): SyntheticSpec => ({
  ...awaiting(0.8),
  metrics: [
    ...(awaiting(0.8).metrics ?? []),
    ...[
      { prefix: '', activity: "contended Lock 'x'", value: seconds },
      { prefix: 'fit', activity: "wait for Lock 'x'", value: 2 * seconds },
    ].map((one) => ({ ...one, time: 0, worker: 'w0', context: 'shared' })),
  ],
});

export const startingProfiler = (): SyntheticSpec => {
  const spec = withStraggler(8, true);
  const slow = spec.tasks?.find(({ key }) => key === 'fit-slow');
  const { worker = 'w0', started = 0 } = slow ?? {};
  return {
    ...spec,
    intervals: [{ worker, action: 'profiler', start: started + 0.5, stop: started + 7.5 }],
  };
};

/** Garbage collections before the first task and after the last one. */
export const collectingBeside = (): SyntheticSpec => {
  const tasks = balanced().map((task) => ({ ...task, started: task.started + 5, stopped: task.stopped + 5 }));
  const end = Math.max(...tasks.map(({ stopped }) => stopped));
  return {
    tasks,
    intervals: ['w0', 'w1'].flatMap((worker) => [
      { worker, action: 'gc' as const, start: 1, stop: 5 },
      { worker, action: 'gc' as const, start: end, stop: end + 4 },
    ]),
  };
};

/** `seconds` of garbage collection in each task of a second. */
export const collecting = (seconds: number): SyntheticSpec => ({
  tasks: balanced(),
  intervals: balanced().map(({ worker = 'w0', started, key }) => ({
    worker,
    action: 'gc',
    start: started + 0.1,
    stop: started + 0.1 + seconds,
    task: key,
  })),
});

export function sending(nbytes: number, seconds: number): SyntheticSpec {
  const tasks = balanced().map((task) => ({
    ...task,
    started: task.started + seconds,
    stopped: task.stopped + seconds,
  }));
  return {
    tasks: tasks.map((task) => ({
      ...task,
      submitted: 0,
      ready: 0,
      dispatched: 0,
      received: seconds,
      acknowledged: task.stopped,
    })),
    transfers: [{ worker: 'w0', what: 'scatter', keys: ['fit-0'], nbytes, start: 0, stop: seconds }],
  };
}

/** The client fetches a result of the first step before it submits the second step, which needs the result or not. */
export function fetching(needsIt: boolean, nbytes = 1e9): SyntheticSpec {
  return {
    tasks: [
      { key: 'load-1', started: 0, stopped: 5, nbytes },
      {
        key: 'fit-1',
        started: 10,
        stopped: 15,
        submitted: 10,
        computation: 2,
        needs: needsIt ? ['load-1'] : [],
      },
    ],
    transfers: [
      {
        worker: 'w0',
        what: 'gather',
        direction: 'outgoing',
        keys: ['load-1'],
        nbytes,
        start: 5,
        stop: 9.5,
      },
    ],
  };
}

/** Four steps on two workers, with a pause of the program of `seconds` between two steps. */
export function thinking(seconds: number): SyntheticSpec {
  const tasks = [0, 1, 2, 3].flatMap((step) => {
    const submitted = step * (5 + seconds);
    return scheduled(
      many(10, 1, `step${step}`).map((task) => ({ ...task, submitted })),
      { workers: 2 },
    ).tasks.map((task) => ({ ...task, computation: step + 1 }));
  });
  return { tasks, workers: [{ name: 'w0' }, { name: 'w1' }] };
}

/** Each step of a chain waits `seconds` for the scheduler while its worker is idle. */
export function late(seconds: number, delay = 0): SyntheticSpec {
  const tasks: SyntheticTask[] = [];
  for (let i = 0; i < 10; i++) {
    const started = i * (1 + seconds);
    tasks.push({
      key: `step-${i}`,
      started,
      stopped: started + 1,
      needs: i === 0 ? [] : [`step-${i - 1}`],
      received: started,
    });
  }
  return {
    tasks,
    resources: tasks.map(({ started }) => ({ time: started, figures: { eventLoopDelay: delay } })),
  };
}

/** Each result takes `seconds` to pack before the next task on the same thread starts. */
export function packing(seconds: number): SyntheticSpec {
  const tasks = scheduled(many(40), { workers: 4, overhead: seconds }).tasks;
  return { tasks, intervals: tasks.map((task) => packed(task, seconds)) };
}

export const packed = ({ worker = 'w0', stopped, key }: SyntheticTask, seconds: number) => ({
  worker,
  action: 'serialize' as const,
  start: stopped,
  stop: stopped + seconds,
  task: key,
  thread: 0,
  nbytes: 50e6,
});

/** Eight rounds of equal tasks of 1 s on two workers. The program submits a round 0.1 s after the last task of the one before. */
export function inRounds(tasks: number): SyntheticSpec {
  const seconds = Math.ceil(tasks / 2) + 0.1;
  const rounds = Array.from({ length: 8 }, (_, round) =>
    many(tasks).map((task, i) => ({ ...task, key: `fit-${round * tasks + i}`, submitted: round * seconds })),
  );
  return scheduled(rounds.flat(), { workers: 2 });
}

// Profile pages for tests and screenshots: simulated runs, the same on every machine.
import { type ProfilePage, type ResourceSection, TaskTableBuilder } from '#internal/protocol/profilePage.js';

/** Epoch seconds of the seed's own example. */
const EPOCH = 1_454_368_444.25;

/** Numbers in [0, 1) that are the same on every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface SimulatedTask {
  readonly key: string;
  readonly text: string;
  readonly seconds: number;
  readonly needs: readonly number[];
  readonly megabytes: number;
}

interface SimulatedRun {
  readonly worker: number[];
  readonly start: number[];
  readonly stop: number[];
}

/** Runs tasks greedily in order on the workers; a task starts when its needs are done. */
function simulate(tasks: readonly SimulatedTask[], workers: number): SimulatedRun {
  const freeAt = new Array<number>(workers).fill(0);
  const run: SimulatedRun = { worker: [], start: [], stop: [] };
  for (const task of tasks) {
    const ready = task.needs.reduce((latest, need) => Math.max(latest, run.stop[need]!), 0);
    let worker = 0;
    for (let w = 1; w < workers; w++) {
      if (Math.max(ready, freeAt[w]!) < Math.max(ready, freeAt[worker]!)) worker = w;
    }
    const start = Math.max(ready, freeAt[worker]!) + 0.0004;
    run.worker.push(worker);
    run.start.push(start);
    run.stop.push(start + task.seconds);
    freeAt[worker] = start + task.seconds;
  }
  return run;
}

/** QR of a tall matrix in `blocks` blocks, then Q·R, as the seed's example computes it. */
function tsqrTasks(blocks: number): SimulatedTask[] {
  const random = randomNumbers(7);
  const token = '8d16e396b237bf7a731333130d310cb9';
  const tasks: SimulatedTask[] = [];
  const add = (key: string, text: string, seconds: number, needs: readonly number[], megabytes: number) => {
    tasks.push({ key, text, seconds: seconds * (0.75 + 0.5 * random()), needs, megabytes });
    return tasks.length - 1;
  };
  const range = Array.from({ length: blocks }, (_, i) => i);
  const blocksOf = range.map((i) =>
    add(
      `('random_sample-${token}', ${i}, 0)`,
      `random_sample(${Math.floor(random() * 2e9)}, [1000, 1000])`,
      0.16,
      [],
      8,
    ),
  );
  const qr = range.map((i) =>
    add(`('tsqr-${token}_QR_st1', ${i}, 0)`, `qr('random_sample-${token}', ${i})`, 0.42, [blocksOf[i]!], 16),
  );
  const stacked = add(`('tsqr-${token}_stack', 0)`, `vstack([${blocks} blocks])`, 0.09, qr, 8 * blocks);
  const second = add(`('tsqr-${token}_QR_st2', 0)`, 'qr(stack)', 0.55, [stacked], 8 * blocks);
  const q2 = range.map((i) => add(`('getitem-${token}', ${i})`, `getitem(Q2, [${i}])`, 0.02, [second], 8));
  const q = range.map((i) =>
    add(`('dot-${token}', ${i}, 0)`, `dot(Q1[${i}], Q2[${i}])`, 0.24, [qr[i]!, q2[i]!], 8),
  );
  const back = range.map((i) => add(`('dot-5a0e${token}', ${i}, 0)`, `dot(Q[${i}], R)`, 0.26, [q[i]!], 8));
  const sums = range.map((i) => add(`('sum-${token}', ${i})`, `sum(${i})`, 0.05, [back[i]!], 0.01));
  add(`('sum-aggregate-${token}',)`, `sum([${blocks} partial sums])`, 0.03, sums, 0.01);
  return tasks;
}

const prefixOf = (key: string) => /^\('([a-z_]+)/.exec(key)?.[1] ?? key.split('-')[0]!;

/** Seed 002's figure: task stream, CPU and memory, cache. */
export function tsqrPage(blocks = 40, workers = 4): ProfilePage {
  const tasks = tsqrTasks(blocks);
  const run = simulate(tasks, workers);
  const table = new TaskTableBuilder(prefixOf);
  const task = Uint32Array.from(tasks, ({ key, text }) => table.add(key, text));
  const end = Math.max(...run.stop);
  const freed = run.stop.map((stop) => stop);
  tasks.forEach(({ needs }, i) => {
    for (const need of needs) freed[need] = Math.max(freed[need]!, run.stop[i]!);
  });
  freed[tasks.length - 1] = end;
  return {
    title: 'tsqr.ts',
    workers: Array.from({ length: workers }, (_, i) => `threads-${i}`),
    tasks: table.build(),
    sections: [
      {
        type: 'tasks',
        task,
        worker: Uint32Array.from(run.worker),
        start: Float64Array.from(run.start, (time) => EPOCH + time),
        stop: Float64Array.from(run.stop, (time) => EPOCH + time),
      },
      resources(tasks, run, freed, end),
      {
        type: 'cache',
        metricName: 'nbytes',
        task,
        cacheTime: Float64Array.from(run.stop, (time) => EPOCH + time),
        freeTime: Float64Array.from(freed, (time) => EPOCH + time),
        metric: Float64Array.from(tasks, ({ megabytes }) => megabytes * 1e6),
      },
    ],
  };
}

function resources(
  tasks: readonly SimulatedTask[],
  run: SimulatedRun,
  freed: readonly number[],
  end: number,
): ResourceSection {
  const random = randomNumbers(3);
  const dt = 0.1;
  const time = Float64Array.from({ length: Math.ceil(end / dt) }, (_, i) => i * dt);
  const cpu = time.map((t) => {
    const busy = run.start.reduce(
      (sum, start, i) => sum + Math.max(0, Math.min(t + dt, run.stop[i]!) - Math.max(t, start)),
      0,
    );
    return (100 * busy * (0.94 + 0.05 * random())) / dt;
  });
  const mem = time.map((t) => {
    const held = tasks.reduce(
      (sum, task, i) => sum + (run.stop[i]! <= t && t < freed[i]! ? task.megabytes : 0),
      0,
    );
    return 74.1 + held + 4 * random();
  });
  return { type: 'resources', time: time.map((t) => EPOCH + t), mem, cpu };
}

/** `count` tasks of about `seconds` each with keys of random tokens on `workers` workers, with resources and cache. */
export function largePage(count: number, workers = 4, seconds = 1e-3): ProfilePage {
  const random = randomNumbers(11);
  const names = ['inc', 'double', 'sum', 'load', 'parse', 'filter', 'groupby-agg', 'write'];
  const weights = [0.34, 0.62, 0.74, 0.8, 0.9, 0.95, 0.985, 1];
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const table = new TaskTableBuilder((key) => key.slice(0, key.lastIndexOf('-')));
  const task = new Uint32Array(count);
  const worker = new Uint32Array(count);
  const start = new Float64Array(count);
  const stop = new Float64Array(count);
  const metric = new Float64Array(count);
  const freeAt = new Float64Array(workers);
  for (let i = 0; i < count; i++) {
    // What runs drifts over the run, as it does in a real one.
    const drift = (random() + 0.35 * Math.sin((i / count) * 6)) % 1;
    const name = names[weights.findIndex((weight) => Math.abs(drift) < weight)]!;
    task[i] = table.add(`${name}-${hex()}${hex()}`, `${name}(${i})`);
    worker[i] = freeAt.indexOf(Math.min(...freeAt));
    const idle = random() < 0.02 ? random() * 20 : 0.05;
    start[i] = EPOCH + freeAt[worker[i]!]! + idle * seconds;
    const length = seconds * (name === 'load' ? 4 : 0.4 + random());
    stop[i] = start[i]! + length;
    freeAt[worker[i]!] = stop[i]! - EPOCH;
    metric[i] = 1;
  }
  const end = Math.max(...freeAt);
  const time = Float64Array.from({ length: 200 }, (_, i) => EPOCH + (i / 199) * end);
  return {
    title: `${count.toLocaleString('en')} tasks`,
    workers: Array.from({ length: workers }, (_, i) => `threads-${i}`),
    tasks: table.build(),
    sections: [
      { type: 'tasks', task, worker, start, stop },
      {
        type: 'resources',
        time,
        mem: time.map((_, i) => 300 + 200 * Math.sin(i / 20) + 30 * random()),
        cpu: time.map(() => 100 * workers * (0.9 + 0.1 * random())),
      },
      {
        type: 'cache',
        metricName: 'count',
        task,
        cacheTime: stop,
        freeTime: stop.map(
          (time_, i) => time_ + seconds * (5 + 40 * random()) * (1 + Math.sin(i / count) * 2),
        ),
        metric,
      },
    ],
  };
}

/** Keys, prefixes, texts and names that would do harm if they became HTML or ended a script. */
export function hostilePage(): ProfilePage {
  const hostile = [
    '<img src=x onerror=globalThis.harmed=1>',
    '</script><script>globalThis.harmed=1</script>',
    '"><svg onload=globalThis.harmed=1>',
    "');globalThis.harmed=1;('",
    '\u202eright-to-left ☠ $& $1 @LONGPOLE_DATA@',
  ];
  const table = new TaskTableBuilder((key) => key);
  const task = Uint32Array.from(hostile, (text) => table.add(text, text));
  const start = Float64Array.from(hostile, (_, i) => EPOCH + i);
  return {
    title: hostile.join(' '),
    workers: hostile,
    tasks: table.build(),
    sections: [
      {
        type: 'tasks',
        task,
        worker: Uint32Array.from(hostile, (_, i) => i),
        start,
        stop: start.map((time) => time + 0.9),
      },
      {
        type: 'cache',
        metricName: hostile[0]!,
        task,
        cacheTime: start.map((time) => time + 0.9),
        freeTime: start.map((time) => time + 2),
        metric: Float64Array.from(hostile, () => 1),
      },
    ],
  };
}

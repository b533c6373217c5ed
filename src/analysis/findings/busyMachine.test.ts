// Runs on a machine whose cores other programs keep busy: threads start late, and waits are longer. The right finding
// still has the right cost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import type { Finding } from './finding.js';
import { findings } from './findings.js';
import { balanced, chain, cpu, late, many, thinking } from './workloads.test.support.js';

const found = (spec: SyntheticSpec): Map<string, Finding> =>
  new Map(findings(syntheticTrace(spec)).map((finding) => [finding.code, finding]));

function assertCosts(spec: SyntheticSpec, code: string, seconds: number): void {
  const all = found(spec);
  const cost = all.get(code)?.seconds ?? Number.NaN;
  assert.ok(Math.abs(cost / seconds - 1) < 0.05, `${cost} s instead of ${seconds} s of ${[...all.keys()]}`);
}

const TWO = [{ name: 'w0' }, { name: 'w1' }];
/** Samples of two cores that other programs keep busy. */
const full: SyntheticSpec['resources'] = Array.from({ length: 401 }, (_, i) => ({
  time: i / 10,
  figures: { cpu: 10, host_cpu: 200, host_cores: 2 },
}));

/** Samples of a scheduler whose thread waits for a core for this share of the time, and computes otherwise. */
function waits(share: number): NonNullable<SyntheticSpec['resources']> {
  return Array.from({ length: 301 }, (_, i) => ({
    time: i / 10,
    figures: { scheduler_core_time: (1 - share) * (i / 10), scheduler_core_wait: share * (i / 10) },
  }));
}

/** Tasks of `seconds` on a worker, each of which its thread receives `pause` seconds after the previous one. */
function onWorker(worker: string, count: number, begin: number, seconds = 0.1, pause = 0): SyntheticTask[] {
  return many(count, seconds, worker).map(({ key }, i) => {
    const started = begin + i * (seconds + pause);
    const times = { submitted: 0, ready: 0, dispatched: Math.max(0, started - pause), received: started };
    const stopped = started + seconds;
    return { key, worker, ...times, started, stopped, acknowledged: stopped + pause / 2 };
  });
}

const byStop = (tasks: readonly SyntheticTask[]): SyntheticTask[] =>
  [...tasks].sort((a, b) => a.stopped - b.stopped);

describe('findings on a busy machine', () => {
  it('a serial tail costs the time of its tasks, not the time between them', () => {
    const { tasks } = scheduled([...many(20), ...chain(5, ['fit-19'])], { workers: 4 });
    const slow = (pause: number) =>
      tasks.map((task) => {
        const step = task.key.startsWith('step') ? Number(task.key.slice(5)) + 1 : 0;
        const [started, stopped] = [task.started + step * pause, task.stopped + step * pause];
        return { ...task, started, stopped, received: started };
      });
    assertCosts({ tasks: slow(0) }, 'serial-tail', 5 * 0.75);
    assertCosts({ tasks: slow(0.5) }, 'serial-tail', 5 * 0.75);
    // In a tail without tasks, threads wait for something else.
    assert.ok(!found({ tasks: slow(4) }).has('serial-tail'));
  });

  it('a few short stalls of tiny tasks are no stragglers, and the other tasks are too small all the same', () => {
    const onThread = (worker: string) => {
      let now = 0;
      return Array.from({ length: 1000 }, (_, i) => {
        const [dispatched, started] = [now, now + 100e-6];
        now = started + (i % 250 === 50 ? 75e-3 : 10e-6);
        const times = { submitted: 0, ready: 0, dispatched, received: started, started, stopped: now };
        return { key: `inc-${worker}-${i}`, worker, ...times, acknowledged: now };
      });
    };
    const tasks = [...onThread('w0'), ...onThread('w1')];
    const busy = [...found({ tasks, resources: full }).values()];
    assert.deepEqual(
      busy.map(({ code }) => code),
      ['tasks-too-small'],
    );
    assert.match(busy[0]?.title ?? '', /^2,000 tasks of 10 µs are too small: 100 µs pass /);
    // With free cores, nothing explains the long tasks.
    assert.equal([...found({ tasks }).keys()][0], 'stragglers');
    // A task that takes seconds is no stall.
    const long = { key: 'inc-2', worker: 'w0', submitted: 0, ready: 0, started: 1, stopped: 3 };
    assert.equal([...found({ tasks: [...tasks, long], resources: full }).keys()][0], 'stragglers');
    // The waits for a core of a task that has left its slot are not measured.
    const away = { ...long, seceded: 1.1, resumed: 1.1 };
    const tooLong = (spec: SyntheticSpec) => found({ ...spec, tasks: [...tasks, away] }).has('stragglers');
    assert.deepEqual([tooLong({ resources: full }), tooLong({})], [false, true]);
  });

  it('waits for a core name the tasks that waited longest', () => {
    const waited = [0, 0.5, 0.2, 0, 0.9, 0.1, 0.6, 0.7];
    const tasks = waited.map((coreWait, i) => ({
      key: `a-${i}`,
      worker: 'w0',
      started: i,
      stopped: i + 1,
      coreWait,
    }));
    const { evidence } =
      found({ workers: TWO, tasks, resources: full }).get('cpu-oversubscription') ?? assert.fail();
    assert.deepEqual(evidence.tasks, ['a-4', 'a-7', 'a-6', 'a-1', 'a-2']);
  });

  it('a serial tail costs no waits for a core, and is no finding if its tasks only wait for cores', () => {
    const { tasks } = scheduled([...many(20), ...chain(5, ['fit-19'])], { workers: 4 });
    const waiting = (coreWait: number) =>
      tasks.map((task) => (task.key.startsWith('step') ? { ...task, coreWait } : task));
    assertCosts({ tasks: waiting(0.4) }, 'serial-tail', 5 * 0.75 * 0.6);
    assert.ok(!found({ tasks: waiting(1) }).has('serial-tail'));
  });

  it('a serial tail explains the lack of parallel tasks, also if its task mostly waits for a core', () => {
    const tail = { key: 'sum', worker: 'w0', needs: ['a-0'], started: 0.4, stopped: 4.4, coreWait: 3.2 };
    const maps = Array.from({ length: 8 }, (_, i) => {
      const started = Math.floor(i / 2) * 0.1;
      return { key: `a-${i}`, worker: `w${i % 2}`, started, stopped: started + 0.1, coreWait: 0 };
    });
    const codes = [...found({ workers: TWO, tasks: [...maps, tail] }).keys()];
    assert.ok(codes.includes('serial-tail') && !codes.includes('lack-of-parallelism'), codes.join());
  });

  it('a tail is no finding if the thread of its chain began late, e.g. without a core', () => {
    const chained = (worker: string, begin: number, dispatched?: number): SyntheticTask[] =>
      Array.from({ length: 10 }, (_, i) => ({
        key: `${worker}-${i}`,
        worker,
        started: begin + i,
        stopped: begin + i + 1,
        needs: i === 0 ? [] : [`${worker}-${i - 1}`],
        ...(dispatched === undefined ? {} : { dispatched }),
      }));
    const tasks = [...chained('w0', 0), ...chained('w1', 3)];
    assert.ok(!found({ tasks }).has('serial-tail'));
    // The program submitted the chain late.
    assertCosts({ tasks: [...chained('w0', 0), ...chained('w1', 3, 3)] }, 'serial-tail', 1.5);
  });

  it('workers are not skewed if a thread had its next task, and did not run it', () => {
    const run = (worker: string, begin: number, count: number, dispatched = 0): SyntheticTask[] =>
      Array.from({ length: count }, (_, i) => ({
        key: `${worker}-${begin + i}`,
        worker,
        started: begin + i,
        stopped: begin + i + 1,
        dispatched,
      }));
    const paused = (dispatched: number): SyntheticSpec => ({
      tasks: [...run('w0', 0, 12), ...run('w1', 0, 1), ...run('w1', 7, 5, dispatched)],
      workers: TWO,
    });
    assert.ok(found(paused(7)).has('worker-skew'));
    assert.ok(!found(paused(0)).has('worker-skew'));
  });

  it('a straggler is found among many preempted tasks', () => {
    const waits = (key: string): number => (Number(key.slice(4)) % 7 === 3 ? 0.04 : 0);
    const tasks = many(41).map((task) => ({
      ...task,
      seconds: task.key === 'fit-40' ? 1.5 : 0.015 + waits(task.key),
    }));
    const preempted = scheduled(tasks, { workers: 2 }).tasks.map((task) => ({
      ...task,
      coreWait: waits(task.key),
    }));
    assertCosts({ tasks: preempted }, 'stragglers', 1.485);
    // Nothing shows why these tasks took longer.
    const slow = preempted.map((task) => ({ ...task, coreWait: 0 }));
    assert.ok(!found({ tasks: slow }).has('stragglers'));
  });

  it('a straggler is found if all tasks wait for a core, but not one that only waited longest', () => {
    const tasks = many(60, 0.1).map((task) => (task.key === 'fit-37' ? { ...task, seconds: 8 } : task));
    const waiting = (share: number): SyntheticSpec => ({
      tasks: scheduled(tasks, { workers: 2 }).tasks.map((task) => {
        const part = task.key === 'fit-37' ? share : 0.9;
        return { ...task, coreWait: part * (task.stopped - task.started) };
      }),
      workers: TWO,
      resources: full,
    });
    assertCosts(waiting(0.85), 'stragglers', 0.15 * 8 - 0.01);
    const { title, advice } = found(waiting(0.85)).get('stragglers')!;
    assert.match(title, / a task of 'fit' took 1.2 s without waits for a core, the median is 10 ms$/);
    assert.match(advice, /^Look at the arguments of 'fit'/);
    // 0.63 s are less than 5 % of the run, but not of the run without waits for a core.
    assertCosts(waiting(0.92), 'stragglers', 0.08 * 8 - 0.01);
    assert.ok(!found(waiting(0.999)).has('stragglers'));
  });

  it('skew costs the same if the scheduler sends each task late', () => {
    for (const pause of [0, 0.03]) {
      const tasks = byStop([...onWorker('w0', 32, 0, 0.1, pause), ...onWorker('w1', 8, 0, 0.1, pause)]);
      assertCosts({ tasks, workers: TWO }, 'worker-skew', 1.2);
    }
  });

  it('tasks queue at a worker while the program blocks the event loop, because of the program', () => {
    const tasks = byStop([...onWorker('w0', 32, 0, 0.1, 0.03), ...onWorker('w1', 8, 0, 0.1, 0.03)]);
    const late = (eventLoopDelay: number) =>
      Array.from({ length: 60 }, (_, i) => ({ time: i / 10, figures: { eventLoopDelay } }));
    const codes = (delay: number) => [...found({ tasks, workers: TWO, resources: late(delay) }).keys()];
    assert.deepEqual(codes(0), ['worker-skew', 'scheduler-bound']);
    assert.deepEqual(codes(0.1), ['event-loop-starvation']);
  });

  it('a worker that starts late could have taken fewer tasks', () => {
    const tasks = byStop([
      ...onWorker('w0', 64, 0, 0.05),
      ...onWorker('w1', 16, 1, 0.05).map((task, i) => (i === 0 ? { ...task, dispatched: 0 } : task)),
    ]);
    // Both could have stopped at (3.2 + 0.8 + 1) / 2 = 2.5 s.
    assertCosts({ tasks, workers: TWO }, 'worker-skew', 0.7);
  });

  it('a chain does not cost the time from the call of the program to its submission', () => {
    for (const pause of [0, 3]) {
      const tasks = scheduled(
        chain(20).map((task) => ({ ...task, submitted: pause })),
        { workers: 2, latency: 1e-3 },
      ).tasks;
      assertCosts({ tasks, workers: TWO, called: 0 }, 'lack-of-parallelism', 10);
    }
  });

  it('all threads share what waiting tasks lose, also if a thread starts late', () => {
    const tasks = [...onWorker('w0', 25, 0, 1), ...onWorker('w1', 15, 10, 1)];
    const waiting = byStop(tasks).map((task) => ({ ...task, coreWait: 0.5 }));
    assertCosts({ tasks: waiting, workers: TWO, resources: full }, 'cpu-oversubscription', 20 / 2);
    // The tasks of a chain follow one another.
    const alone = scheduled(chain(20), { workers: 2 }).tasks.map((task) => ({ ...task, coreWait: 0.5 }));
    assertCosts({ tasks: alone, workers: TWO, resources: full }, 'cpu-oversubscription', 20 / 2);
  });

  it('as many threads as cores do not compete with each other, even if helper threads compute, too', () => {
    const { tasks } = scheduled(many(40), { workers: 2 });
    // The threads have 0.3 cores, the whole program 0.34.
    const resources = full.map(({ time, figures }) => ({ time, figures: { ...figures, cpu: 34 } }));
    const waiting = tasks.map((task) => ({ ...task, coreWait: 0.85 }));
    const own = found({ tasks: waiting, workers: TWO, resources }).get('cpu-oversubscription');
    assert.match(own?.title ?? '', /: other programs keep 1.7 of 2 cores busy$/);
    // A third thread that hardly computes is no reason either.
    const idle = { key: 'listen-0', worker: 'w2', started: 0, stopped: 0.01, coreWait: 0 };
    const beside = found({ tasks: [idle, ...waiting], resources }).get('cpu-oversubscription');
    assert.match(beside?.title ?? '', /: other programs keep 1.7 of 2 cores busy/);
  });

  it('a worker that exists for a short part of the run is not one thread too many', () => {
    const { tasks } = scheduled(many(40), { workers: 2 });
    const waiting = tasks.map((task) => ({ ...task, coreWait: 0.85 }));
    const third = { key: 'show-0', worker: 'w2', started: 10, stopped: 11, coreWait: 0.85 };
    const title = (stopped: number): string => {
      const workers = [...TWO, { name: 'w2', started: 10, stopped }];
      const resources = full.map(({ time, figures }) => ({ time, figures: { ...figures, cpu: 17 } }));
      const spec = { tasks: byStop([...waiting, third]), workers, resources };
      return found(spec).get('cpu-oversubscription')?.title ?? '';
    };
    assert.match(title(11), /: other programs keep 1.8 of 2 cores busy/);
  });

  it('the run does not wait for the program if its thread only waits for a core', () => {
    // The program pauses for 2 s three times, from 5, 12 and 19 s on.
    const waiting = (share: number): SyntheticSpec => ({ ...thinking(2), resources: waits(share) });
    const alone = found(thinking(2)).get('client-bound')?.seconds ?? Number.NaN;
    for (const share of [0, 0.75]) assertCosts(waiting(share), 'client-bound', alone);
    assert.match(
      found(waiting(0.75)).get('client-bound')?.evidence.text ?? '',
      / had not submitted the next task yet, 4\.\d s of it without a core\.$/,
    );
    for (const share of [0.9, 1]) assert.deepEqual([...found(waiting(share)).keys()], []);
  });

  it('the run does not wait for the program if Longpole computes on its thread', () => {
    // The pauses end at 7, 14 and 21 s.
    const sampled = (file: string): SyntheticSpec => ({
      ...thinking(2),
      samples: [6, 13, 20].map((time) => ({
        time,
        worker: null,
        prefix: '',
        stack: ['f'],
        file,
        count: 190,
      })),
    });
    assert.deepEqual([...found(sampled('/app/dist/engine/cluster/clusterEngine.js')).keys()], []);
    assert.deepEqual([...found(sampled('/app/program.js')).keys()], ['client-bound']);
  });

  it('a wait for a core counts when it ends, and may be longer than the time between two samples', () => {
    const sums = { 0: 0, 5.5: 0, 6: 0, 6.5: 1.2, 7: 1.2, 30: 1.2 };
    const resources = Object.entries(sums).map(([time, sum]) => ({
      time: Number(time),
      figures: { scheduler_core_time: 0, scheduler_core_wait: sum },
    }));
    const own = found({ ...thinking(2), resources }).get('client-bound');
    assert.ok(Math.abs((own?.evidence.numbers['coreWaitSeconds'] ?? 0) - 1.2) < 1e-9);
  });

  it('the program does not block the event loop if its thread only waits for a core', () => {
    const spec = late(0.5, 0.5);
    const waiting = (share: number): SyntheticSpec => ({
      ...spec,
      resources: [...(spec.resources ?? []), ...waits(share)],
    });
    const alone = found(spec).get('event-loop-starvation')?.seconds ?? Number.NaN;
    assertCosts(waiting(0), 'event-loop-starvation', alone);
    assertCosts(waiting(0.5), 'event-loop-starvation', alone);
    for (const share of [0.95, 1]) assert.ok(!found(waiting(share)).has('event-loop-starvation'));
    // The waits of tasks for a core do not show that the program waited.
    const crowded = {
      ...waiting(0.5),
      tasks: (spec.tasks ?? []).map((task) => ({ ...task, coreWait: 0.4 })),
    };
    assertCosts(crowded, 'event-loop-starvation', alone);
  });

  it('blocked tasks do not cost the time in which profilers started', () => {
    // On each of two threads, the first of 20 tasks takes 1 s longer than the others.
    const first = many(2, 1.1, 'first');
    const blocked = (seconds: number): SyntheticSpec => {
      const tasks = [...first, ...many(38, 0.1)].map((task) => ({
        ...task,
        key: task.key.replace('first', 'fit-a'),
      }));
      const spec = scheduled(tasks, { workers: 2 });
      const profilers = ['w0', 'w1'].map((worker) => ({ worker, start: 0.05, stop: 0.05 + seconds }));
      return {
        tasks: spec.tasks,
        metrics: cpu({ fit: [0.2, 5.8] }) ?? [],
        intervals: profilers.map((one) => ({ ...one, action: 'profiler' as const })),
      };
    };
    const [without, all] = [1, 0].map(
      (seconds) => found(blocked(seconds)).get('synchronous-io')?.seconds ?? 0,
    );
    assert.ok((without ?? 0) > 1.5 && (without ?? 0) < 2, `${without} s of 2 s`);
    assert.ok((all ?? 0) > 2.5, `${all} s of 3 s`);
  });

  it('the cost of other programs comes last, and its title says why if it is not the lowest', () => {
    const tasks = scheduled(chain(20), { workers: 2 }).tasks;
    const titles = (coreWait: number) =>
      [
        ...found({
          tasks: tasks.map((task) => ({ ...task, coreWait })),
          workers: TWO,
          resources: full,
        }).values(),
      ].map(({ title }) => title);
    const [dearer, cheaper] = [titles(0.85), titles(0.3)];
    assert.deepEqual([dearer.length, cheaper.length], [2, 2]);
    assert.match(dearer[1]!, /cores busy; listed last, because no change of the program lowers it$/);
    assert.match(cheaper[1]!, /cores busy$/);
  });

  it('the scheduler is not the cause while its thread waits for a core', () => {
    const tasks = scheduled(many(40, 0.01), { workers: 2 }).tasks.map((task, i) => {
      const started = Math.floor(i / 2) * 0.015 + 0.005;
      const times = { submitted: 0, ready: 0, received: started, started, stopped: started + 0.01 };
      return { ...task, ...times, worker: `w${i % 2}`, dispatched: started - 0.005 };
    });
    const codes = (coreWait: number) => [
      ...found({
        tasks: tasks.map((task) => ({ ...task, coreWait })),
        workers: TWO,
        metrics: cpu({ fit: [0.4 - 40 * coreWait, 40 * coreWait] }) ?? [],
      }).keys(),
    ];
    assert.ok(codes(0).includes('scheduler-bound'), codes(0).join());
    assert.ok(!codes(0.008).includes('scheduler-bound'), codes(0.008).join());
  });

  it('the start of a profiler that waits for a core does not count as synchronous I/O', () => {
    const tasks = balanced();
    const intervals = ['w0', 'w1', 'w2', 'w3'].map((worker) => ({
      worker,
      action: 'profiler' as const,
      start: 1.05,
      stop: 9,
    }));
    const metrics = cpu({ fit: [8, 32] }) ?? [];
    assert.ok(found({ tasks, metrics }).has('synchronous-io'));
    assert.ok(!found({ tasks, metrics, intervals }).has('synchronous-io'));
  });

  it('a sleeping thread that a signal wakes waits for a core, but would have slept anyway', () => {
    // Each task sleeps for a second. In a quarter of them, the thread waits for a core for 0.9 s of it, or for longer.
    const tasks = balanced().map((task, i) => ({ ...task, coreWait: i % 4 === 0 ? 0.9 : 0 }));
    const metrics = cpu({ fit: [0.4, 39.6] }) ?? [];
    assertCosts({ tasks, metrics }, 'synchronous-io', 9);
    const computing = cpu({ fit: [31, 9] }) ?? [];
    assert.ok(!found({ tasks, metrics: computing }).has('synchronous-io'));
  });

  describe('a blocked event loop', () => {
    const OWN = '/somewhere/longpole/dist/engine/cluster/clusterEngine.js';
    const RECORDER = '/somewhere/longpole/dist/files/traceWriter.js';
    /** Each of ten tasks of a second waits a second for the scheduler, whose event loop is late all the time. */
    const spec = late(1);
    const resources = Array.from({ length: 200 }, (_, i) => ({
      time: i / 10,
      figures: { eventLoopDelay: 0.1 },
    }));
    /** Samples in each wait at the given tenths of a second, or while tasks compute. */
    const samples = (
      file: string | readonly string[],
      from: number,
      to: number,
      isWait = true,
    ): NonNullable<SyntheticSpec['samples']> =>
      Array.from({ length: 9 }, (_, wait) =>
        Array.from({ length: to - from }, (_, i) => ({
          time: 2 * wait + (isWait ? 1 : 0) + (from + i + 0.5) / 10,
          worker: null,
          prefix: '',
          stack: [file].flat().map((_, depth) => `frame ${depth}`),
          file,
        })),
      ).flat();
    const starved = (...all: readonly NonNullable<SyntheticSpec['samples']>[]): number =>
      found({ ...spec, resources, samples: all.flat().sort((a, b) => a.time - b.time) }).get(
        'event-loop-starvation',
      )?.seconds ?? 0;
    const near = (seconds: number, expected: number): void =>
      assert.ok(Math.abs(seconds - expected) < 0.3, `${seconds} s instead of ${expected} s`);

    it('costs the waits in which the program computed, with the recording that piled up meanwhile', () => {
      near(starved(samples('/home/me/program.js', 0, 10)), 9);
      near(
        starved(samples('/home/me/program.js', 0, 6), samples(RECORDER, 6, 10), samples(OWN, 3, 4, false)),
        9,
      );
      near(
        starved(samples('/home/me/program.js', 0, 1), samples(RECORDER, 1, 10), samples(OWN, 3, 4, false)),
        1.8,
      );
    });

    it('costs nothing if the program computed at other times', () => {
      near(starved(samples('/home/me/program.js', 0, 10, false), samples(OWN, 0, 10)), 0);
      near(starved(samples('/home/me/program.js', 0, 10, false)), 0);
    });

    it('has no samples in a local run, where waits for cores are no evidence of the program', () => {
      const waiting = (coreWait: number): number => {
        const tasks = (spec.tasks ?? []).map((task) => ({ ...task, coreWait }));
        const metrics = cpu({ step: [10 * (1 - coreWait), 10 * coreWait] }) ?? [];
        return found({ ...spec, tasks, metrics, resources }).get('event-loop-starvation')?.seconds ?? 0;
      };
      near(waiting(0), 9);
      near(waiting(0.1), 8.1);
      near(waiting(0.3), 0);
    });

    it('is not the program if a package that Longpole has, or its bundle, computes for Longpole', () => {
      const PACKAGE = '/somewhere/longpole/node_modules/a-package/index.js';
      near(starved(samples([OWN, PACKAGE], 0, 9), samples(OWN, 9, 10)), 0);
      near(starved(samples('/somewhere/longpole/dist/bundle/a.cjs', 0, 9), samples(OWN, 9, 10)), 0);
      near(starved(samples(['/home/me/program.js', PACKAGE], 0, 10), samples(OWN, 9, 10)), 9);
      near(starved(samples([OWN, '/home/me/node_modules/a-package/index.js'], 0, 10)), 9);
    });

    it('is not the program if Longpole is an installed bundle without source maps', () => {
      const BUNDLE = '/home/me/node_modules/longpole/dist/bundle/clusterParts.js';
      near(starved(samples(BUNDLE, 0, 10)), 0);
      for (const folder of ['', '.pnpm/a-package@1.0.0/node_modules/'])
        near(starved(samples([BUNDLE, `/home/me/node_modules/${folder}a-package/index.js`], 0, 10)), 0);
    });
  });
});

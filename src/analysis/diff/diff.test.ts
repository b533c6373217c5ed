// Real differences, and noise that looks like a difference.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import { syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import type { Trace } from '../../trace/trace.js';
import { type ScheduledTask, scheduled } from '../scheduledTrace.test.support.js';
import { Random } from '../statistics.js';
import { type Diff, diff } from './diff.js';

interface RunOf {
  readonly seed: number;
  /** Factor by which `fit` is slower. */
  readonly fit?: number;
  /** Factor by which all tasks are slower, like the drift of a machine between runs. */
  readonly all?: number;
  readonly count?: number;
}

/** 100 loads and 100 fits on 4 workers with durations that vary by ±20 %. */
function run({ seed, fit = 1, all = 1, count = 100 }: RunOf): Trace {
  const random = new Random(seed);
  const vary = () => all * (0.8 + 0.4 * random.next());
  const tasks: ScheduledTask[] = [];
  for (let i = 0; i < count; i++) {
    tasks.push(
      { key: `load-${i}`, seconds: vary() },
      { key: `fit-${i}`, seconds: fit * vary(), needs: [`load-${i}`] },
    );
  }
  return syntheticTrace(scheduled(tasks, { workers: 4 }));
}

const runs = (count: number, spec: Omit<RunOf, 'seed'>, from: number): Trace[] =>
  Array.from({ length: count }, (_, i) => run({ ...spec, seed: from + i }));

function row({ rows }: Diff, kind: string, name: string) {
  const found = rows.find((one) => one.kind === kind && one.name === name);
  assert.ok(found !== undefined, `no row ${kind} ${name}`);
  return found;
}

describe('diff of two runs', () => {
  it('finds the slower prefix, and calls the other one noise', () => {
    const result = diff(run({ seed: 1 }), run({ seed: 2, fit: 1.3 }));
    const fit = row(result, 'prefix', 'fit');
    assert.equal(fit.verdict, 'slower');
    assert.ok(
      fit.p < 0.01 && fit.low > 1.1 && fit.low < 1.3 && fit.high > 1.3 && fit.high < 1.5,
      JSON.stringify(fit),
    );
    assert.equal(row(result, 'prefix', 'load').verdict, 'noise');
    assert.equal(row(diff(run({ seed: 1, fit: 1.3 }), run({ seed: 2 })), 'prefix', 'fit').verdict, 'faster');
    assert.deepEqual(
      result.rows.slice(0, 2).map(({ kind }) => kind),
      ['run', 'run'],
    );
  });

  it('says that tasks of a run waited for cores that other programs used', () => {
    const { workers, tasks } = scheduled(
      Array.from({ length: 40 }, (_, i) => ({ key: `fit-${i}`, seconds: 1 })),
      { workers: 2 },
    );
    const beside = (coreWait: number, busy: number): Trace =>
      syntheticTrace({
        workers,
        tasks: tasks.map((task) => ({ ...task, coreWait })),
        resources: Array.from({ length: 201 }, (_, i) => ({
          time: i / 10,
          figures: { cpu: 200 - busy, host_cpu: 200, host_cores: 2 },
        })),
      });
    assert.match(
      diff(beside(0, 0), beside(0.6, 150)).reason,
      /Tasks waited for a core 60 % of their time after, 0 % before, while other programs used 1\.5 and 0\.0 cores: /,
    );
    assert.doesNotMatch(diff(beside(0, 0), beside(0.6, 0)).reason, /core/);
  });

  it('leaves measured waits for a core out of the rows of tasks, and not out of the makespan and the limit', () => {
    const waiting = (coreWait: number): Trace => {
      const tasks = Array.from({ length: 80 }, (_, i) => ({
        key: `fit-${i}`,
        seconds: 1 + coreWait + (i % 7) / 50,
      }));
      const spec = scheduled(tasks, { workers: 2 });
      return syntheticTrace({ ...spec, tasks: spec.tasks.map((task) => ({ ...task, coreWait })) });
    };
    const crowded = diff(waiting(0), waiting(0.5), { failOver: 0.2 });
    for (const [kind, name] of [
      ['run', 'all tasks'],
      ['prefix', 'fit'],
    ] as const) {
      const { verdict, ratio } = row(crowded, kind, name);
      assert.equal(verdict, 'noise');
      assert.ok(Math.abs(ratio - 1) < 1e-9, `${ratio}`);
    }
    assert.ok(row(crowded, 'run', 'makespan').ratio > 1.4);
    assert.equal(crowded.failed, true);
    assert.match(crowded.reason, /^Slower than allowed: /);
  });

  it('detects that every task is slower although durations differ by a factor of 1000', () => {
    const files = (slower: number, seed: number) => {
      const random = new Random(seed);
      const sizes = Array.from({ length: 200 }, (_, i) => 10 ** ((i * 37) % 4));
      const tasks = sizes.map((size, i) => ({
        key: `parse-${i}`,
        seconds: size * slower * (0.9 + 0.2 * random.next()),
      }));
      return syntheticTrace(scheduled(tasks, { workers: 2 }));
    };
    assert.equal(row(diff(files(1, 1), files(1.5, 2)), 'prefix', 'parse').verdict, 'slower');
    assert.equal(row(diff(files(1, 1), files(1, 2)), 'prefix', 'parse').verdict, 'noise');
  });

  it('calls two runs of the same program noise', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { rows } = diff(run({ seed }), run({ seed: seed + 100 }), { failOver: 0 });
      const wrong = rows.filter(({ kind, verdict }) => kind === 'prefix' && verdict !== 'noise');
      assert.deepEqual(wrong, []);
    }
  });

  it('detects new and removed prefixes, and a larger number of tasks', () => {
    const before = syntheticTrace(
      scheduled([
        { key: 'a-1', seconds: 1 },
        { key: 'b-1', seconds: 1 },
      ]),
    );
    const after = syntheticTrace(
      scheduled([
        { key: 'a-1', seconds: 1 },
        { key: 'c-1', seconds: 2 },
      ]),
    );
    const result = diff(before, after);
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => row(result, 'prefix', name).verdict),
      ['noise', 'gone', 'new'],
    );
    assert.equal(
      row(diff(run({ seed: 1 }), run({ seed: 2, count: 200 })), 'prefix', 'fit').verdict,
      'slower',
    );
    // One task on each side is too little.
    assert.equal(
      row(diff(before, syntheticTrace(scheduled([{ key: 'a-1', seconds: 3 }]))), 'prefix', 'a').verdict,
      'unclear',
    );
  });

  it('compares activities and the critical path', () => {
    const collected = (stop: number) =>
      syntheticTrace({
        tasks: [{ key: 'a-1', started: 0, stopped: 10 }],
        intervals: [{ worker: 'w0', action: 'gc', start: 1, stop }],
      });
    const result = diff(collected(2), collected(5));
    assert.deepEqual(
      [
        row(result, 'activity', 'gc').change,
        row(result, 'path', 'gc').change,
        row(result, 'path', 'compute').change,
      ],
      [3, 3, -3],
    );
  });
});

describe('diff of sets of runs', () => {
  it('finds a small difference that single runs cannot show', () => {
    const result = diff(runs(5, {}, 1), runs(5, { all: 1.04 }, 50), { failOver: 0.02 });
    assert.equal(row(result, 'prefix', 'fit').verdict, 'slower');
    assert.ok(result.failed, result.reason);
    assert.equal(diff(run({ seed: 1 }), run({ seed: 50, all: 1.04 }), { failOver: 0.02 }).failed, false);
  });

  it('calls drift from run to run noise', () => {
    const random = new Random(9);
    const drifting = (from: number) =>
      Array.from({ length: 4 }, (_, i) => run({ seed: from + i, all: 0.9 + 0.2 * random.next() }));
    const result = diff(drifting(1), drifting(100), { failOver: 0 });
    assert.ok(
      result.rows.every(({ verdict }) => verdict === 'noise'),
      result.toString(),
    );
    assert.equal(result.failed, false);
  });
});

describe('diff of three runs on each side', () => {
  /**
   * Prefixes of 20 tasks with durations that vary by 2 %. The first prefix is slower by its own factor, the others by
   * `all`.
   */
  const several = (prefixes: number, first: number, all: number, seed: number): Trace[] => {
    const random = new Random(seed);
    return Array.from({ length: 3 }, () =>
      syntheticTrace(
        scheduled(
          Array.from({ length: 20 * prefixes }, (_, i) => ({
            key: `p${i % prefixes}-${i}`,
            seconds: (i % prefixes === 0 ? first : all) * (1 + 0.02 * random.next()),
          })),
        ),
      ),
    );
  };
  const verdicts = ({ rows }: Diff) =>
    rows.filter(({ kind }) => kind === 'prefix').map(({ name, verdict }) => `${name} ${verdict}`);

  it('calls all slower prefixes slower, in spite of rounding: 0.1 × 3 / 3 is not more than 0.1', () => {
    for (const prefixes of [1, 2, 3, 5, 6]) {
      const result = diff(several(prefixes, 1, 1, 1), several(prefixes, 1.5, 1.5, 2));
      assert.ok(
        result.rows.every(({ verdict }) => verdict === 'slower'),
        `${prefixes} prefixes:\n${result}`,
      );
    }
  });

  it('detects one slower prefix among several, which these few runs alone could not show', () => {
    for (const prefixes of [2, 4, 8]) {
      const slower = diff(several(prefixes, 1, 1, 1), several(prefixes, 3, 1, 2));
      assert.equal(row(slower, 'prefix', 'p0').verdict, 'slower', slower.toString());
      assert.deepEqual(
        verdicts(slower).filter((text) => /[1-9] (slower|faster)/.test(text)),
        [],
      );
      const faster = diff(several(prefixes, 3, 1, 2), several(prefixes, 1, 1, 1));
      assert.equal(row(faster, 'prefix', 'p0').verdict, 'faster', faster.toString());
    }
  });

  it('calls a difference unclear, not noise, if more runs might show it', () => {
    const result = diff(several(4, 1, 1, 1), several(4, 1.04, 1, 2));
    assert.equal(row(result, 'prefix', 'p0').verdict, 'unclear', result.toString());
    // Overlapping runs are noise.
    const [one, two, three] = [several(4, 1, 1, 3), several(4, 1.04, 1, 4), several(4, 1.02, 1, 5)];
    const mixed = diff([one[0]!, two[0]!, three[0]!], [one[1]!, two[1]!, three[1]!]);
    assert.equal(row(mixed, 'prefix', 'p0').verdict, 'noise', mixed.toString());
  });
});

describe('the gate', () => {
  it('fails if the run is slower than the limit by more than noise', () => {
    const slow = run({ seed: 2, fit: 1.5 });
    const failed = diff(run({ seed: 1 }), slow, { failOver: 0.05 });
    assert.ok(failed.failed);
    assert.match(failed.reason, /Slower than allowed: .* grew by \d+\.\d %, the limit is 5 %/);
    assert.equal(diff(run({ seed: 1 }), slow, { failOver: 1 }).failed, false);
    assert.equal(diff(slow, run({ seed: 1 }), { failOver: 0 }).failed, false);
    assert.equal(diff(run({ seed: 1 }), slow).failed, false);
    assert.match(
      diff(run({ seed: 1 }), run({ seed: 2, all: 1.02 }), { failOver: 0 }).reason,
      /record at least 3/,
    );
  });

  it('is deterministic, and prints', () => {
    const [a, b] = [run({ seed: 1 }), run({ seed: 2, fit: 1.1 })];
    assert.deepEqual(diff(a, b).rows, diff(a, b).rows);
    assert.match(diff(a, b).toString(), /prefix +fit +slower/);
  });

  it('refuses a side without traces', () => {
    const bad = (error: unknown) =>
      error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT';
    assert.throws(() => diff([], run({ seed: 1 })), bad);
    assert.throws(() => diff(run({ seed: 1 }), run({ seed: 1 }), { failOver: -1 }), bad);
    assert.equal(diff(syntheticTrace({}), syntheticTrace({}), { failOver: 0 }).failed, false);
  });

  it('finds the slower function and its call stack if the runs have samples', () => {
    const profiled = (parse: number, seed: number): Trace => {
      const random = new Random(seed);
      const tasks = Array.from({ length: 20 }, (_, i) => ({ key: `load-${i}`, started: i, stopped: i + 1 }));
      const counts = (usual: number) => Math.round(usual * (0.9 + 0.2 * random.next()));
      return syntheticTrace({
        tasks,
        samples: tasks.flatMap(({ started: time }) => [
          { time, prefix: 'load', stack: ['load', 'read'], count: counts(40) },
          { time, prefix: 'load', stack: ['load', 'parse'], count: counts(parse) },
          ...(time === 3 ? [{ time, prefix: 'load', stack: ['load', `rare ${seed}`] }] : []),
          ...(parse > 20 ? [{ time, prefix: 'load', stack: ['load', 'check'], count: counts(30) }] : []),
        ]),
      });
    };
    const changed = diff(profiled(20, 1), profiled(40, 2));
    assert.equal(row(changed, 'function', 'parse (program.js)').verdict, 'slower');
    assert.equal(row(changed, 'function', 'read (program.js)').verdict, 'noise');
    assert.equal(row(changed, 'function', 'check (program.js)').verdict, 'new');
    assert.equal(row(changed, 'function', 'rare 2 (program.js)').verdict, 'noise', 'one sample');
    const parse = changed.stacks?.children[0]?.children.find(({ name }) => name === 'parse');
    assert.ok(parse !== undefined && Math.abs(parse.before - 4) < 0.3 && Math.abs(parse.after - 8) < 0.5);
    const places = changed.stacksTable()?.rows.map((place) => place['Call stack']);
    assert.deepEqual(places?.slice(0, 1), ['load (program.js)']);
    assert.ok(places?.includes('  parse (program.js)'));
    const local = syntheticTrace({
      tasks: [{ key: 'load-0', started: 0, stopped: 1 }],
      samples: [{ worker: null, time: 0, prefix: '', stack: ['main'] }],
    });
    for (const other of [run({ seed: 1 }), local])
      assert.equal(diff(profiled(20, 1), other).stacks, undefined, 'no task of one side was sampled');
  });

  it('compares no activities of runs with and without fine performance metrics', () => {
    const tasks = [{ key: 'a-0', worker: 'w0', started: 0, stopped: 1 }];
    const metrics = [{ time: 1, worker: 'w0', activity: 'thread-cpu', value: 0.5 }];
    const intervals = [{ worker: 'w0', action: 'serialize' as const, start: 1, stop: 1.5 }];
    const [measured, local] = [syntheticTrace({ tasks, metrics }), syntheticTrace({ tasks, intervals })];
    const activities = (a: Trace, b: Trace) =>
      diff(a, b)
        .rows.filter(({ kind }) => kind === 'activity')
        .map(({ name }) => name);
    assert.deepEqual(activities(measured, local), []);
    assert.deepEqual(activities(measured, measured), ['thread-cpu']);
    assert.deepEqual(activities(local, local), ['serialize']);
  });

  it('does not pass a run without tasks', () => {
    const [whole, empty] = [run({ seed: 1 }), syntheticTrace({})];
    for (const [a, b, which] of [
      [whole, empty, 'after'],
      [empty, whole, 'before'],
    ] as const) {
      const { failed, reason } = diff(a, b, { failOver: 0.05 });
      assert.deepEqual([failed, reason], [true, `Not comparable: a run ${which} has no tasks that ran.`]);
      assert.equal(diff(a, b).failed, false);
    }
    assert.equal(diff([whole, whole], [whole, empty], { failOver: 0.05 }).failed, true);
    const both = diff([whole, whole, empty], [whole, whole, empty], { failOver: 0.05 });
    assert.deepEqual(
      [both.failed, both.reason],
      [true, 'Not comparable: a run before and a run after have no tasks that ran.'],
    );
    assert.equal(diff(empty, empty, { failOver: 0.05 }).failed, false);
    assert.equal(diff(empty, empty).reason, 'There is nothing to compare: no tasks ran.');
  });

  it('a task with a duration of 0 counts as a task that ran', () => {
    const short = (stopped: number) => syntheticTrace({ tasks: [{ key: 'fit-1', started: 0, stopped }] });
    assert.equal(
      diff(short(0), short(0), { failOver: 0.05 }).reason,
      'Passed: the makespan is the same, the limit is 5 %.',
    );
    const { failed, reason } = diff(short(0), short(1), { failOver: 0.05 });
    assert.deepEqual(
      [failed, reason],
      [true, 'Slower than allowed: the makespan grew from 0 s, the limit is 5 %.'],
    );
    assert.equal(diff(short(1), short(0), { failOver: 0.05 }).failed, false);
  });

  it('mentions a larger number of failed tasks, which may be why a run is faster', () => {
    const tasks = (failing: number) =>
      syntheticTrace({
        tasks: Array.from({ length: 10 }, (_, i) => ({
          key: `fit-${i}`,
          started: i,
          stopped: i + 1,
          state: i < failing ? ('erred' as const) : ('memory' as const),
        })),
      });
    assert.match(diff(tasks(0), tasks(3), { failOver: 0.05 }).reason, /Tasks failed: 3 after, 0 before\.$/);
    assert.doesNotMatch(diff(tasks(3), tasks(3)).reason, /failed/);
    assert.doesNotMatch(diff(tasks(3), tasks(0)).reason, /failed/);
  });
});

// A table with two runs for every rule: one in which the rule finds a problem, and a similar one in which it must not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import { criticalPath } from '../criticalPath.js';
import { scheduled } from '../scheduledTrace.test.support.js';
import { speedups } from '../speedups.js';
import type { FindingCode } from './finding.js';
import { findings, findingsTable } from './findings.js';
import { nothingFound, nothingFoundIn } from './nothingFound.js';
import {
  awaiting,
  balanced,
  chain,
  codesOf,
  collecting,
  contending,
  cpu,
  fetching,
  inRounds,
  inTheMiddle,
  late,
  losing,
  many,
  packed,
  packing,
  pausing,
  printed,
  printing,
  sending,
  shuffle,
  slowBeforeBig,
  spilling,
  thinking,
  waitingForCores,
  withCpuSamples,
  withSlowFirst,
  withSlowWorker,
  withStraggler,
} from './workloads.test.support.js';

interface Row {
  readonly code: FindingCode;
  readonly provokes: SyntheticSpec;
  readonly comesClose: SyntheticSpec;
}

const TABLE: readonly Row[] = [
  {
    code: 'tasks-too-small',
    provokes: scheduled(many(1000, 0.001), { overhead: 0.001 }),
    comesClose: scheduled(many(1000, 0.001), { overhead: 0.0001 }),
  },
  {
    code: 'serial-tail',
    provokes: scheduled([...many(40), ...chain(8, ['fit-39'])], { workers: 4 }),
    comesClose: scheduled([...many(40), { key: 'step-0', seconds: 0.5, needs: ['fit-39'] }], { workers: 4 }),
  },
  {
    code: 'serial-stretch',
    provokes: inTheMiddle(8, true),
    // Other threads have work at the same time.
    comesClose: inTheMiddle(8, false),
  },
  // The same task, started first, delays no other task.
  { code: 'stragglers', provokes: withStraggler(8, true), comesClose: withStraggler(8, false) },
  {
    code: 'worker-skew',
    provokes: scheduled(
      many(40).map((task, i) => (i < 30 ? { ...task, worker: 'w0' } : task)),
      { workers: 4 },
    ),
    comesClose: scheduled(
      many(40).map((task, i) => (i < 12 ? { ...task, worker: 'w0' } : task)),
      { workers: 4 },
    ),
  },
  { code: 'transfer-bound', provokes: shuffle(200e6), comesClose: shuffle(20e9) },
  { code: 'serialization-bound', provokes: packing(0.5), comesClose: packing(0.03) },
  { code: 'spill-bound', provokes: spilling(5), comesClose: spilling(0.5) },
  { code: 'memory-bound', provokes: pausing(3), comesClose: pausing(0.4) },
  { code: 'garbage-collection', provokes: collecting(0.3), comesClose: collecting(0.05) },
  { code: 'oversized-arguments', provokes: sending(2e9, 4), comesClose: sending(0.5e6, 4) },
  { code: 'gathered-results', provokes: fetching(true), comesClose: fetching(false) },
  { code: 'gathered-results', provokes: fetching(true, 2e6), comesClose: fetching(true, 0.5e6) },
  { code: 'client-bound', provokes: thinking(2), comesClose: thinking(0.2) },
  {
    code: 'synchronous-io',
    provokes: { tasks: balanced(), metrics: cpu({ fit: [10, 30] }) ?? [] },
    comesClose: { tasks: balanced(), metrics: cpu({ fit: [30, 10] }) ?? [] },
  },
  { code: 'asynchronous-wait', provokes: awaiting(0.8), comesClose: awaiting(0.5) },
  { code: 'event-loop-starvation', provokes: late(0.5, 0.5), comesClose: late(0.5, 0.01) },
  { code: 'scheduler-bound', provokes: late(0.5), comesClose: late(0.05) },
  {
    code: 'lack-of-parallelism',
    provokes: scheduled([...chain(20), ...chain(20, [], 'other')], { workers: 8 }),
    comesClose: scheduled([...chain(10), ...many(25)], { workers: 4 }),
  },
  {
    code: 'cpu-oversubscription',
    provokes: withCpuSamples(190, { tasks: balanced(), metrics: cpu({ fit: [20, 20] }) ?? [] }),
    // Tasks start more threads, but there are enough cores.
    comesClose: withCpuSamples(190, { tasks: balanced(), metrics: cpu({ fit: [38, 2] }) ?? [] }),
  },
  {
    code: 'cpu-oversubscription',
    provokes: { tasks: waitingForCores(0.5), metrics: cpu({ fit: [20, 20] }) ?? [] },
    // Tasks sleep half of their time.
    comesClose: { tasks: waitingForCores(0.05), metrics: cpu({ fit: [20, 20] }) ?? [] },
  },
  { code: 'console-output', provokes: printing(50), comesClose: printing(15) },
  // process.stdout.write() of an isolate that records its lines.
  {
    code: 'console-output',
    provokes: printing(50, 'recordedWrite', 'taskOutput.js'),
    comesClose: printing(50, 'write', 'node:internal/streams/writable'),
  },
  {
    code: 'console-output',
    provokes: { ...late(0.5), events: printed(40 * 100) },
    comesClose: { ...late(0.5), events: printed(40 * 20) },
  },
  { code: 'lock-contention', provokes: contending(5), comesClose: contending(0.2) },
  { code: 'uneven-rounds', provokes: inRounds(3), comesClose: inRounds(4) },
  { code: 'slow-worker', provokes: withSlowWorker(3), comesClose: withSlowWorker(1.8) },
  // The first call also compiles the function.
  { code: 'slow-first-calls', provokes: withSlowFirst(0.8), comesClose: withSlowFirst(0.09) },
  { code: 'lost-work', provokes: losing(false), comesClose: losing(true) },
  {
    code: 'worker-bound',
    provokes: slowBeforeBig(2),
    // Another finding is made, so threads are not the limit.
    comesClose: { tasks: balanced(), metrics: cpu({ fit: [10, 30] }) ?? [] },
  },
];

describe('findings', () => {
  for (const { code, provokes, comesClose } of TABLE) {
    it(`${code}: is found in a run with the problem, and not in a similar run without it`, () => {
      const trace = syntheticTrace(provokes);
      const found = findings(trace);
      const own = found.find((finding) => finding.code === code);
      assert.ok(own !== undefined, `not found; found: ${found.map((one) => one.code).join(', ')}`);
      assert.equal(found[0]?.code, code, 'it costs most');
      const { makespan } = {
        makespan: Math.max(...trace.tasks.acknowledged) - Math.min(...trace.tasks.submitted),
      };
      assert.ok(own.seconds > 0 && own.seconds < makespan, `${own.seconds} of ${makespan} s`);
      assert.ok(own.evidence.tasks.length > 0 && own.evidence.tasks.length <= 5, 'tasks that show it');
      assert.ok(
        Object.values(own.evidence.numbers).some((value) => value > 0),
        'numbers',
      );
      for (const text of [own.title, own.evidence.text, own.advice])
        assert.doesNotMatch(text, /NaN|undefined|Infinity/);
      const close = findings(syntheticTrace(comesClose)).map((one) => one.code);
      assert.ok(!close.includes(code), `false alarm: ${close.join(', ')}`);
    });
  }

  it('a blocked event loop is also a result of many lines that tasks print', () => {
    const starved = (lines: number) => {
      const found = findings(syntheticTrace({ ...late(0.5, 0.5), events: printed(lines) }));
      return found.find(({ code }) => code === 'event-loop-starvation');
    };
    assert.match(starved(40 * 100)?.evidence.text ?? '', /^Tasks printed 4,000 lines or more/);
    assert.match(starved(40 * 100)?.advice ?? '', /^Print less in tasks.*Move the program's computations/);
    assert.match(starved(40 * 20)?.advice ?? '', /^Move the program's computations/);
  });

  it('the text about printed lines has no wait for the scheduler if the path did not wait for it', () => {
    const [own] = findings(syntheticTrace({ ...printing(50), events: printed(80 * 100) }));
    assert.equal(own?.code, 'console-output');
    assert.match(own.evidence.text, /tasks printed for .*wrote or recorded 8,000 lines or more\.$/);
  });

  it('packing delays only tasks that wait for the packed result, on any worker', () => {
    const codes = (tasks: readonly SyntheticTask[]) =>
      codesOf({
        tasks,
        intervals: tasks.filter(({ key }) => key === 'load-1').map((task) => packed(task, 3)),
      });
    const load = { key: 'load-1', worker: 'w0', started: 0, stopped: 5 };
    const other = { key: 'read-1', worker: 'w1', started: 0, stopped: 8 };
    const last = { key: 'fit-1', worker: 'w1', started: 8, stopped: 10, received: 8 };
    assert.ok(codes([load, { ...last, needs: ['load-1'] }]).includes('serialization-bound'));
    assert.ok(!codes([load, other, { ...last, needs: ['read-1'] }]).includes('serialization-bound'));
  });

  it('a run without problems is limited by its workers, and an empty trace has no finding', () => {
    assert.deepEqual(codesOf({ tasks: balanced() }), ['worker-bound']);
    // A run with threads that idled half of the time is not limited by its threads.
    const [, second] = [0, 1].map((i) => balanced().map((task) => ({ ...task, key: `${task.key}-${i}` })));
    const paused = [
      ...balanced(),
      ...(second ?? []).map(({ started, stopped, ...task }) => ({
        ...task,
        submitted: 25,
        computation: 2,
        started: started + 25,
        stopped: stopped + 25,
      })),
    ];
    assert.ok(!codesOf({ tasks: paused }).includes('worker-bound'));
    assert.deepEqual(findings(syntheticTrace({})), []);
  });

  it('a run without a finding is described by its largest parts and by the best speedup', () => {
    const { tasks = [] } = scheduled(chain(2), { workers: 1 });
    const trace = syntheticTrace({
      tasks: tasks.map((task) => ({
        ...task,
        submitted: 0,
        received: task.started + 1,
        started: task.started + 1,
        stopped: task.stopped + 1,
      })),
      // One of two threads is idle, so the run is not limited by its workers.
      workers: [{ name: 'w0', threads: 2 }],
    });
    const only = criticalPath(trace);
    const text = nothingFound(only, speedups(trace), 0);
    assert.match(
      text,
      /^No finding costs 5 % of the run or more\. The start of the workers, which import the modules of their tasks, takes 33 % \(1 s\)/,
    );
    assert.match(text, / 'step' accounts for 67 % \(2 s\) of the critical path, mostly compute\./);
    assert.match(text, / If 'step' were twice as fast, the run would take 1 s less\.$/);
    const { makespan, byPrefix } = only;
    assert.match(
      nothingFound({ makespan, byPrefix, byKind: [{ kind: 'client time', seconds: 2 }] }, [], 0),
      /^No finding .* more\. The program, which prepares and submits the tasks, takes \d+ % \(\d s\)\. 'step'/,
    );
    assert.equal(nothingFound(criticalPath(syntheticTrace({})), [], 0), '');
  });

  it('says how long the thread of the program waited for a core', () => {
    const task = (i: number) => ({ key: `step-${i}`, submitted: 0, started: 3 * i, stopped: 3 * i + 1 });
    const resources = Array.from({ length: 81 }, (_, i) => ({
      time: i / 10,
      figures: { scheduler_core_time: 0.02 * (i / 10), scheduler_core_wait: 0.5 * (i / 10) },
    }));
    const tasks = [0, 1, 2].map((i) => ({ ...task(i), ready: 0, dispatched: 3 * i }));
    const trace = syntheticTrace({ tasks, resources });
    assert.match(
      nothingFoundIn(trace),
      / The thread of the program, .* waited for a core for \d+ % \(2 s\)\./,
    );
    assert.doesNotMatch(nothingFoundIn(syntheticTrace({ tasks })), /waited for a core/);
  });

  it('the finding worker-bound names the prefix that occupies the workers, not a prefix that waits for it', () => {
    const [own] = findings(syntheticTrace(slowBeforeBig(2)));
    assert.match(
      own?.title ?? '',
      /^The run is limited by its 2 workers, which were busy (9\d|100) % of the time$/,
    );
    // 'big' would save 0.1 % of the run, and is not named.
    const [, four, slow] =
      /^With 4 workers, each on its own core, the run would take (\d+) ms\. The trace does not show whether tasks computed all the time\. If 'slow' were twice as fast, it would take (\d+) ms less\.$/.exec(
        own?.evidence.text ?? '',
      ) ?? [];
    assert.ok(Math.abs(Number(four) - 512) < 25, own?.evidence.text);
    assert.ok(Math.abs(Number(slow) - 510) < 25, own?.evidence.text);
    assert.equal(own?.advice, "Use more workers on more cores, or make 'slow' faster.");
  });

  it('a straggler that waited for a core was preempted', () => {
    const { tasks = [] } = withStraggler(8, true);
    const spec = { tasks: tasks.map((task) => ({ ...task, coreWait: task.key === 'fit-slow' ? 6.9 : 0 })) };
    const [own] = findings(syntheticTrace(spec)).filter(({ code }) => code === 'stragglers');
    assert.match(own?.evidence.text ?? '', /^Possible cause: preempted for 6\.9 s\. /);
    assert.match(own?.advice ?? '', /^Stop other programs/);
    // If every task waits for a core, the straggler is part of another finding.
    const crowded = {
      tasks: tasks.map((task) => ({ ...task, coreWait: task.key === 'fit-slow' ? 6.9 : 0.3 })),
    };
    assert.ok(!codesOf(crowded).includes('stragglers'));
  });

  it('at most seven findings are returned, in order of their cost, and print as a table', () => {
    const trace = syntheticTrace(late(0.5, 0.5));
    const found = findings(trace);
    assert.ok(found.length >= 1 && found.length <= 7);
    const costs = found.map(({ seconds }) => seconds);
    assert.deepEqual(
      costs,
      [...costs].sort((a, b) => b - a),
    );
    assert.equal(findingsTable(found).length, found.length);
    assert.match(findingsTable(found).toString(), /event loop was blocked/);
  });
});

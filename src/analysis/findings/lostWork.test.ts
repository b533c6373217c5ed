// The finding about lost workers: their names, when they were lost, and the cost of repeating their work.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_MEMORY } from '../../protocol/eventTopics.js';
import {
  type SyntheticSpec,
  type SyntheticTask,
  syntheticTrace,
} from '../../trace/syntheticTrace.test.support.js';
import type { Trace } from '../../trace/trace.js';
import { criticalPath } from '../criticalPath.js';
import { speedups } from '../speedups.js';
import { findings } from './findings.js';
import { chain, losing } from './workloads.test.support.js';

const codesOf = (spec: SyntheticSpec) => findings(syntheticTrace(spec)).map(({ code }) => code);

describe('lost work', () => {
  it('names the lost worker, the time of the loss, and the cost of computing its results again', () => {
    const [own] = findings(syntheticTrace(losing(false)));
    assert.equal(own?.title, "Worker 'w3' was lost at 10 s: 10 results were computed again");
    const { byKind } = criticalPath(syntheticTrace(losing(false)));
    assert.ok((byKind.find(({ kind }) => kind === 'recomputed')?.seconds ?? 0) > 0.9);
    // Ten tasks of a second on three workers.
    assert.ok(Math.abs((own?.seconds ?? 0) - 4) < 0.1, `${own?.seconds}`);
    // Another chain continued at the same time and was the critical path.
    const { workers = [], tasks = [] } = losing(false);
    const beside = chain(40).map(({ key, needs = [] }, i) => ({
      key,
      needs,
      worker: 'w4',
      started: i,
      stopped: i + 1,
    }));
    assert.ok(!codesOf({ workers, tasks: [...tasks, ...beside] }).includes('lost-work'));
  });

  it('includes the time of task runs that ended with their worker', () => {
    const [cut, again] = [
      { key: 'fit-0', worker: 'w0', dispatched: 0 },
      { key: 'fit-0', worker: 'w1', attempt: 2 },
    ];
    const [own] = findings(
      syntheticTrace({
        workers: [{ name: 'w0', stopped: 6 }],
        tasks: [
          { ...cut, started: Number.NaN, stopped: Number.NaN, submitted: 0, acknowledged: 6, state: 'lost' },
          { ...again, started: 6, stopped: 16, submitted: 0, dispatched: 6 },
        ],
      }),
    );
    assert.equal(own?.title, "Worker 'w0' was lost at 6 s: 1 task was computed again");
    assert.ok(Math.abs((own?.seconds ?? 0) - 6) < 0.1, `${own?.seconds}`);
  });

  it('gives advice about memory if the nanny of a Dask worker ended it because of its memory', () => {
    const reason = 'its nanny ended it, because it used 950 MB of memory';
    const lost = { key: 'fit-0', worker: 'w0', submitted: 0, dispatched: 0, acknowledged: 6 };
    const [own] = findings(
      syntheticTrace({
        workers: [{ name: 'w0', stopped: 6, reason, memoryLimit: 1e9 }],
        tasks: [
          { ...lost, started: Number.NaN, stopped: Number.NaN, state: 'lost' },
          { key: 'fit-1', worker: 'w1', started: 0, stopped: 7, submitted: 0 },
        ],
      }),
    );
    assert.equal(own?.title, "'fit' died once with its worker and has no result");
    assert.equal(own.evidence.text, `The last time: ${reason}.`);
    assert.equal(own.advice, "Raise the memory limit of worker 'w0' (1 GB), or use smaller blocks.");
  });

  it('gives advice about memory if the system killed a worker process for lack of memory', () => {
    const reason = `The worker process ended by signal SIGKILL because ${NO_MEMORY}`;
    const lost = { key: 'fit-0', worker: 'w0', submitted: 0, dispatched: 0, acknowledged: 6 };
    const [own] = findings(
      syntheticTrace({
        workers: [{ name: 'w0', stopped: 6, reason }],
        tasks: [
          { ...lost, started: Number.NaN, stopped: Number.NaN, state: 'lost' },
          { key: 'fit-1', worker: 'w1', started: 0, stopped: 7, submitted: 0 },
        ],
      }),
    );
    assert.match(
      own?.evidence.text ?? '',
      /SIGKILL because the machine or its container had no memory left\.$/,
    );
    assert.match(own?.advice ?? '', /^Use smaller blocks or fewer workers, or set a memory limit/);
  });

  /** Two workers of which one ends after 2 s. Others find it at 3 s, and it is removed at 8 s; one task waits until then. */
  const unnoticed = (event: string): SyntheticSpec => ({
    workers: [{ name: 'w1', stopped: 8 }],
    events: [{ time: 8, worker: 'w1', topic: event, text: 'w1 does not answer' }],
    tasks: [
      { key: 'map-0', worker: 'w0', started: 0, stopped: 2 },
      { key: 'map-1', worker: 'w1', started: 0, stopped: 2 },
      {
        key: 'map-1',
        worker: 'w0',
        attempt: 2,
        started: 3,
        stopped: 4,
        ready: 3,
        submitted: 0,
        dispatched: 3,
      },
      {
        key: 'sum',
        worker: 'w0',
        started: 8,
        stopped: 9,
        ready: 8,
        needs: ['map-0', 'map-1'],
        dispatched: 8,
      },
    ],
  });

  it('includes the wait until a silent worker was removed', () => {
    const [own] = findings(syntheticTrace(unnoticed('worker-lost')));
    assert.equal(own?.title, "Worker 'w1' was lost at 3 s: 1 result was computed again");
    assert.match(own.evidence.text, /Tasks waited up to 5 s until the loss was noticed/);
    // The task that runs again, and four seconds of waiting.
    assert.ok(Math.abs(own.seconds - 5) < 0.1, `${own.seconds}`);
  });

  it('is on the critical path as a wait for the lost worker, not for the scheduler', () => {
    const { parts } = criticalPath(syntheticTrace(unnoticed('worker-lost'))).toJSON();
    const wait = parts.find(({ kind, task }) => kind === 'waiting for a worker' && task === 'sum');
    assert.deepEqual([wait?.worker, wait?.start, wait?.stop], ['w1', 4, 8]);
  });

  it('leaves the wait until the removal out of what faster tasks would save', () => {
    const maps = Array.from({ length: 10 }, (_, i) => {
      const started = Math.floor(i / 2);
      const times = { ready: 0, submitted: 0, dispatched: 0, started, stopped: started + 1 };
      return { key: `map-${i}`, worker: `w${i % 2}`, ...times };
    });
    const own = { worker: 'w0', submitted: 0 };
    const again = { ...own, key: 'map-9', attempt: 2, ready: 5, dispatched: 5, started: 5, stopped: 6 };
    const sums = Array.from({ length: 4 }, (_, i) => {
      const times = { ready: 10, dispatched: 10, started: 10 + i, stopped: 11 + i };
      return { ...own, ...times, key: `sum-${i}`, needs: ['map-8', 'map-9'] };
    });
    const trace = syntheticTrace({
      workers: [{ name: 'w1', stopped: 10 }],
      events: [{ time: 10, worker: 'w1', topic: 'worker-lost', text: 'w1 does not answer' }],
      tasks: [...maps, again, ...sums],
    });
    const saved = speedups(trace).find(({ prefix }) => prefix === 'map');
    // Two workers need 6 s and save 1 s. The run took 14 s, of which it waited 4 s for the lost worker.
    assert.ok(Math.abs((saved?.gained ?? 0) - 10 / 6) < 0.05, `${saved?.gained}`);
  });

  it('does not take a worker that leaves idle for the reason that a result was computed again', () => {
    assert.ok(!codesOf(unnoticed('worker-removed')).includes('lost-work'));
    // It was lost ten minutes later.
    const later = { ...unnoticed('worker-lost'), workers: [{ name: 'w1', stopped: 608 }] };
    assert.ok(!codesOf(later).includes('lost-work'));
  });

  it('does not name the remaining worker as overloaded', () => {
    const queue = Array.from({ length: 10 }, (_, i) => ({
      key: `slow-${i}`,
      worker: 'w0',
      started: 3 + i,
      stopped: 4 + i,
      ready: 3,
      dispatched: 3,
      received: 3,
    }));
    const spec = (stopped: number): SyntheticSpec => ({
      workers: [{ name: 'w1', stopped }],
      tasks: [...(unnoticed('worker-lost').tasks ?? []).slice(0, 2), ...queue],
    });
    assert.ok(codesOf(spec(Number.NaN)).includes('worker-skew'));
    assert.ok(!codesOf(spec(2.5)).includes('worker-skew'));
    // A new worker that does little is one that could have taken tasks.
    const { workers = [], tasks = [] } = spec(2.5);
    const joined = { key: 'map-2', worker: 'w2', started: 3.2, stopped: 3.3, ready: 3, dispatched: 3.2 };
    const replaced = { workers: [...workers, { name: 'w2', started: 3 }], tasks: [...tasks, joined] };
    assert.ok(codesOf(replaced).includes('worker-skew'));
    // A worker that replaces a lost one has its name, and was not idle while its process started.
    const late = { ...joined, started: 9, stopped: 13, dispatched: 9 };
    const starting = (topic: string): readonly string[] => {
      const events = [{ time: 2.5, worker: 'w1', topic, text: 'The process ended.' }];
      const trace = syntheticTrace({ workers: replaced.workers, events, tasks: [...tasks, late] });
      trace.workers.name[1] = trace.workers.name[0]!;
      return findings(trace).map(({ code }) => code);
    };
    assert.ok(starting('worker-removed').includes('worker-skew'));
    assert.ok(!starting('worker-lost').includes('worker-skew'));
  });

  /** Two workers run tasks of a second. Each is lost and replaced, one at 6 s and one at 8 s, until the run ends at 20 s. */
  const replacedOften = (): SyntheticSpec => {
    const lives = [
      { name: 'w0', started: 0, stopped: 8 },
      { name: 'w1', started: 0, stopped: 6 },
      { name: 'w2', started: 6, stopped: 16 },
      { name: 'w3', started: 8, stopped: 20 },
      { name: 'w4', started: 16, stopped: 20 },
    ];
    const tasks = lives.flatMap(({ name, started, stopped }) =>
      Array.from({ length: stopped - started - (name === 'w3' ? 1 : 3) }, (_, i) => ({
        key: `map-${name}${i}`,
        worker: name,
        ready: 0,
        submitted: 0,
        dispatched: started + i,
        started: started + i,
        stopped: started + i + 1,
      })),
    );
    return { workers: lives, tasks };
  };

  it('does not call a worker overloaded because the others were lost before it began, or replaced after', () => {
    assert.ok(!codesOf(replacedOften()).includes('worker-skew'));
  });

  it('knows that the thread of a local scheduler ended with the task that it lost', () => {
    const task = (worker: string, i: number) => ({
      key: `map-${worker}${i}`,
      worker,
      ready: 0,
      submitted: 0,
      received: i,
      dispatched: i,
      started: i,
      stopped: i + 1,
    });
    const lost = { ...task('w0', 3), key: 'bad-0', started: Number.NaN, stopped: Number.NaN };
    const spec = (last: readonly SyntheticTask[]): SyntheticSpec => ({
      tasks: [
        ...[0, 1, 2].map((i) => task('w0', i)),
        ...last,
        ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ ...task('w1', i), dispatched: 0, received: 0 })),
      ],
    });
    assert.ok(codesOf(spec([])).includes('worker-skew'));
    assert.ok(!codesOf(spec([{ ...lost, state: 'lost', acknowledged: 3.1 }])).includes('worker-skew'));
  });

  /** A task that ended with its worker three times. */
  const dead = (): SyntheticSpec => ({
    workers: [{ name: 'w0' }],
    events: [
      { time: 2, worker: 'w0', topic: 'worker-restarted', text: 'Its heap needed more than 1 MB.' },
      { time: 6, worker: 'w0', topic: 'worker-restarted', text: 'Its heap needed more than 2 MB.' },
      { time: 6, worker: 'w0', topic: 'worker-paused', text: 'w0' },
    ],
    tasks: [2, 4, 6].map((acknowledged, i) => ({
      key: 'load-0',
      worker: 'w0',
      attempt: i + 1,
      started: Number.NaN,
      stopped: Number.NaN,
      submitted: 0,
      ready: acknowledged - 2,
      dispatched: acknowledged - 2,
      acknowledged,
      state: 'lost' as const,
    })),
  });

  it('names the task that died with each of its workers, and the last reason, even if no task has a result', () => {
    const [own, ...others] = findings(syntheticTrace(dead()));
    assert.deepEqual(others, []);
    assert.equal(own?.title, "'load' died 3 times with its worker and has no result");
    assert.equal(own.evidence.text, 'The last time: Its heap needed more than 2 MB.');
    assert.deepEqual([own.seconds, own.evidence.tasks], [6, ['load-0']]);
    const { tasks = [], ...rest } = dead();
    const beside = { key: 'add-0', worker: 'w1', started: 0, stopped: 4 };
    assert.ok(codesOf({ ...rest, tasks: [...tasks, beside] }).includes('lost-work'));
    assert.match(own.advice, /process\.exit\(\)/);
    const workers =
      rest.workers?.map((worker, i) => ({ ...worker, address: `tcp://10.0.0.1:400${i}` })) ?? [];
    assert.match(
      findings(syntheticTrace({ ...rest, tasks, workers }))[0]?.advice ?? '',
      /in 'load' for .*os\._exit/,
    );
    // The fourth run has a result.
    const again = { key: 'load-0', worker: 'w1', attempt: 4, started: 6, stopped: 7, dispatched: 6 };
    for (const { title } of findings(syntheticTrace({ ...rest, tasks: [...tasks, again] })))
      assert.doesNotMatch(title, /no result/);
    // Its result was lost, and the last run ended with its worker.
    const last = { ...tasks[0]!, attempt: 5, dispatched: 7, ready: 7, acknowledged: 8 };
    const [more] = findings(syntheticTrace({ ...rest, tasks: [...tasks, again, last] }));
    assert.equal(more?.title, "'load' died 4 times with its worker and has no result");
  });

  it('does not blame the tasks that workers had when the connection to their Dask cluster was lost', () => {
    const text = 'The connection to the cluster at tcp://10.0.0.1:8786 was lost: the scheduler closed it.';
    const spec = dead();
    const events = spec.events?.map((event) => ({ ...event, text }));
    const [own] = findings(syntheticTrace({ ...spec, ...(events === undefined ? {} : { events }) }));
    assert.equal(own?.title, 'The connection to the cluster was lost while workers had 1 task');
    assert.equal(own.advice, 'Read the log of the scheduler to find out why it ended.');
  });

  it('includes the time in which a worker that was lost between two tasks was missing, if tasks were ready', () => {
    const task = (key: string, worker: string, started: number, ready = 0) => {
      const times = {
        ready,
        submitted: ready,
        dispatched: ready,
        received: ready,
        started,
        stopped: started + 1,
      };
      return { key, worker, ...times };
    };
    /** Two tasks, pauses of the client, ten tasks. One worker is lost after its first task, and replaced. */
    const killed = (pause: number, replaced: number): Trace => {
      const [lost, then] = [2, 2 + pause];
      const trace = syntheticTrace({
        workers: [
          { name: 'w1', stopped: lost },
          { name: 'w2', started: lost },
        ],
        events: [{ time: lost, worker: 'w1', topic: 'worker-lost', text: 'The process ended.' }],
        tasks: [
          task('map-0', 'w0', 0),
          task('map-1', 'w1', 0),
          ...Array.from({ length: 8 }, (_, i) => task(`fit-0${i}`, 'w0', then + i, then)),
          ...Array.from({ length: 8 - replaced }, (_, i) =>
            task(`fit-1${i}`, 'w2', then + replaced + i, then),
          ),
        ],
      });
      trace.workers.name[1] = trace.workers.name[0]!;
      return trace;
    };
    const own = (trace: Trace) => findings(trace).find(({ code }) => code === 'lost-work');
    const found = own(killed(0, 4));
    assert.equal(found?.title, "Worker 'w1' was lost at 2 s: it was missing for 4 s");
    // One of two threads.
    assert.ok(Math.abs(found.seconds - 2) < 0.1, `${found.seconds}`);
    // The program had no tasks, and the replacement was ready when it had.
    assert.equal(own(killed(20, 0)), undefined);
    // The replacement ran no task until the end.
    assert.equal(own(killed(0, 8))?.title, "Worker 'w1' was lost at 2 s: it was missing for 8 s");
  });
});

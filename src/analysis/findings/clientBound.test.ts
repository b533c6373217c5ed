import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';

it('each submission of a program that keeps a task in flight ends a pause', () => {
  // While the program computes for a second, the task that it submitted before ends, and waits for it.
  const tasks = Array.from({ length: 20 }, (_, i) => {
    const submitted = Math.max(0, i - 1);
    const [started, stopped] = [submitted, submitted + 0.1];
    const acknowledged = i === 0 ? stopped : submitted + 1.01;
    return {
      key: `load-${i}`,
      worker: `w${i % 2}`,
      submitted,
      started,
      stopped,
      acknowledged,
      computation: i + 1,
    };
  });
  const own = findings(syntheticTrace({ tasks })).find(({ code }) => code === 'client-bound');
  assert.match(own?.evidence.text ?? '', /^In 18 pauses, 9\d % of the critical path, /);
});

it('the advice to a program that waits between submissions is about what it waits for', () => {
  // A task of 0.1 s each second. The thread of the program computes for a share of the time.
  const found = (share: number, samples = 41) => {
    const tasks = Array.from({ length: 20 }, (_, i) => ({
      key: `digest-${i}`,
      submitted: i,
      started: i,
      stopped: i + 0.1,
      computation: i + 1,
    }));
    const resources = Array.from({ length: samples }, (_, i) => ({
      time: i / 2,
      figures: { scheduler_core_time: (share * i) / 2, scheduler_core_wait: 0 },
    }));
    const all = findings(syntheticTrace({ tasks, resources, workers: [{ name: 'w0' }, { name: 'w1' }] }));
    return all.find(({ code }) => code === 'client-bound') ?? assert.fail();
  };
  assert.match(
    found(0.1).evidence.text,
    / For at least 15 s of these pauses, the program's thread did not compute: /,
  );
  assert.match(found(0.1).advice, /^Start what the program waits for earlier, /);
  assert.match(found(0.8).advice, /^Submit the next step before you process /);
  // The thread may have computed since the last sample.
  assert.match(found(0.1, 11).advice, /^Submit the next step before you process /);
});

it('a pause in which a Dask cluster restarts is not blamed on the processing of results', () => {
  const found = (restart: number) => {
    const task = (key: string, worker: string, at: number, computation: number) => ({
      key,
      worker,
      submitted: at,
      started: at,
      stopped: at + 1,
      computation,
    });
    const spec = {
      tasks: [task('fit-0', 'w0', 0, 1), task('fit-1', 'w1', 10, 2)],
      workers: [
        { name: 'w0', stopped: 1 },
        { name: 'w1', started: 8 },
      ],
      events: [{ time: restart, topic: 'restart', text: 'The cluster was restarted.' }],
    };
    const all = findings(syntheticTrace(spec));
    return all.find(({ code }) => code === 'client-bound') ?? assert.fail();
  };
  assert.match(found(1).evidence.text, / For 7 s of it, the cluster was being restarted\.$/);
  assert.match(found(1).advice, /^Restart the workers less often\./);
  assert.match(found(7).advice, /^Submit the next step before /);
  assert.doesNotMatch(found(11).evidence.text, /restarted/);
});

it("time between calls of submit() is the program's, without the time of Longpole in these calls", () => {
  const found = (count: number, prepared?: number) => {
    const tasks = Array.from({ length: count }, (_, i) => {
      const started = 4.01 + Math.floor(i / 2) / count;
      return { key: `fit-${i}`, worker: `w${i % 2}`, submitted: 4, started, stopped: started + 1 / count };
    });
    const all = findings(
      syntheticTrace({ tasks, called: 1, ...(prepared === undefined ? {} : { prepared }) }),
    );
    return all.find(({ code }) => code === 'client-bound');
  };
  for (const count of [20, 20_000]) {
    const own = found(count, 3.5);
    assert.ok(Math.abs((own?.seconds ?? 0) - 2.5) < 0.01, `${count} tasks: ${own?.seconds} s`);
    assert.match(own?.advice ?? '', /^Submitted tasks start when the program next awaits something/);
    assert.equal(found(count, 1.1), undefined);
    // Older traces do not have Longpole's time.
    assert.equal(found(count), undefined);
  }
});

it('time in which Longpole compiles the first tasks is no time between calls of submit()', () => {
  const tasks = Array.from({ length: 200 }, (_, i) => {
    const started = 4.01 + Math.floor(i / 2) / 1000;
    return { key: `add-${i}`, worker: `w${i % 2}`, submitted: 4, started, stopped: started + 1e-3 };
  });
  const found = (prepared: number) => {
    const all = findings(syntheticTrace({ tasks, called: 1, prepared }));
    const small = all.find(({ code }) => code === 'tasks-too-small');
    const own = all.find(({ code }) => code === 'client-bound');
    return [own?.seconds ?? 0, small?.evidence.numbers['preparingSeconds'] ?? 0].map(Math.round);
  };
  // The parser of functions is loaded when the first tasks are compiled.
  assert.deepEqual(found(1.01), [0, 3]);
  assert.deepEqual(found(3.99), [3, 0]);
});

it('a program that submits its first tasks waited for a core for the share that its first sample shows', () => {
  const tasks = Array.from({ length: 20 }, (_, i) => {
    const started = 4.01 + i / 20;
    return { key: `fit-${i}`, worker: 'w0', submitted: 4, started, stopped: started + 0.05 };
  });
  const resources = [4.5, 5].map((time) => ({
    time,
    figures: { scheduler_core_time: time / 4, scheduler_core_wait: (3 * time) / 4 },
  }));
  const own = findings(syntheticTrace({ tasks, resources, called: 1, prepared: 4 })).find(
    ({ code }) => code === 'client-bound',
  );
  assert.match(own?.evidence.text ?? '', /, 2\.\d s of it without a core\.$/);
});

it('the advice to a program that computes between later calls of submit() is to await between them', () => {
  const task = (key: string, submitted: number, computation: number) => ({
    key,
    submitted,
    started: submitted,
    stopped: submitted + 0.5,
    computation,
  });
  const tasks = [task('load-0', 1, 1), task('fit-0', 4, 2), task('fit-1', 4, 2)];
  const found = (second: { start: number; prepared: number } | undefined) => {
    const trace = syntheticTrace({ tasks });
    const computations = trace.computations.map((one, i) => (i === 1 ? { ...one, ...second } : one));
    return findings(Object.create(trace, { computations: { value: computations } }))[0] ?? assert.fail();
  };
  assert.match(
    found({ start: 1.6, prepared: 3.9 }).advice,
    /^Submitted tasks start when the program next awaits /,
  );
  assert.match(found({ start: 3.8, prepared: 3.9 }).advice, /^Submit the next step before you process /);
});

it('a program that starts a cluster for each computation is advised to start one', () => {
  const tasks = [0, 1, 2].map((i) => {
    return { key: `fit-${i}`, submitted: 2 * i, started: 2 * i, stopped: 2 * i + 1, computation: i + 1 };
  });
  const events = [1.2, 3.2].flatMap((time) => [
    { time, topic: 'cluster-starting', text: '' },
    { time: time + 0.7, topic: 'cluster-started', text: '' },
  ]);
  const own = (more: Pick<SyntheticSpec, 'events'>) =>
    findings(syntheticTrace({ tasks, ...more })).find(({ code }) => code === 'client-bound');
  assert.match(
    own({ events })?.evidence.text ?? '',
    / For 1.4 s of it, the program waited for the start of another cluster\.$/,
  );
  assert.equal(own({ events })?.advice, 'Start one cluster, and use it for all computations.');
  assert.match(own({})?.advice ?? '', /^Submit the next step/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import type { Summary } from './summary.js';
import { summaryText } from './summaryText.js';

const SUMMARY: Summary = {
  tasks: { memory: 1240, erred: 2, cancelled: 0, lost: 1, retried: 0, skipped: 0 },
  failed: [{ key: 'countPrimes-7', worker: 'worker-0', error: 'RangeError: n is negative' }],
  failedTasks: 2,
  cutOff: ['2 tasks had not ended when the client closed: 1 add, 1 countPrimes.'],
  noTaskEnded: null,
  computations: 3,
  outside: null,
  makespan: 2.31,
  computed: 4.21,
  workers: [
    { name: 'worker-0', tasks: 700, computed: 2.2, busy: 0.954, awaited: 0 },
    { name: 'worker-1', tasks: 543, computed: 2.01, busy: 0.87, awaited: 0.1 },
  ],
  prefixes: [
    { prefix: 'countPrimes', tasks: 1240, erred: 2, computed: 4.2, longest: 0.13, nbytes: 9920 },
    { prefix: 'add', tasks: 3, erred: 0, computed: 0.0012, longest: null, nbytes: 8 },
  ],
  moved: {
    betweenWorkers: 12_300_000,
    shuffled: 0,
    toWorkers: 0,
    toProgram: 1200,
    spilled: 0,
    spilledResults: 0,
  },
  longPole: {
    replaced: [],
    floor: 0.131,
    byKind: [{ kind: 'compute', seconds: 2.1 }],
    byPrefix: [{ prefix: 'countPrimes', seconds: 2.1, parts: [{ kind: 'compute', seconds: 2.1 }] }],
    parts: [
      { kind: 'compute', prefix: 'countPrimes', behind: null, seconds: 1.9 },
      { kind: 'waiting for a worker', prefix: null, behind: 'countPrimes', seconds: 0.2 },
      { kind: 'client time', prefix: null, behind: null, seconds: 0.21 },
    ],
  },
  findings: [],
  nothingFound: 'No finding costs 5 % of the run or more.',
  notSimulated: '',
  speedups: [
    { prefix: 'countPrimes', computed: 4.2, makespan: 1.2, low: 1, high: 1.4, gained: 1.11 },
    // Gains below a twentieth of the run, or below 1 ms, are not printed.
    { prefix: 'add', computed: 0.0012, makespan: 2.2, low: 2, high: 2.6, gained: 0.11 },
    { prefix: 'tiny', computed: 0.0009, makespan: 0.0009, low: 0.0009, high: 0.001, gained: 0.0009 },
  ],
};

test('the summary has one section per label', () => {
  assert.equal(
    summaryText({ ...SUMMARY, cutOff: [] }),
    `
tasks      1,240 done, 2 failed, 1 lost with their worker in 3 computations;
           4.2 s of tasks in 2.3 s
failed     'countPrimes-7' on worker-0: RangeError: n is negative
           and 1 more
workers    worker-0  95 % busy  2.2 s  700 runs
           worker-1  87 % busy    2 s  543 runs
prefixes   countPrimes   4.2 s   100 %  1,240 runs  longest 130 ms
           add          1.2 ms  <0.1 %      3 runs
moved      12 MB between workers, 1.2 kB to the program
long pole   82 %   1.9 s  compute: countPrimes
           8.7 %  200 ms  waiting for a worker busy with countPrimes
           9.1 %  210 ms  client time
           No number of workers makes it faster than 131 ms.
findings   No finding costs 5 % of the run or more.
what if    countPrimes twice as fast  1.2 s  −1.1 s
`.slice(1),
  );
});

test('spilled results have a compressed size only if it is recorded, which Dask does not', () => {
  const movedText = (spilled: number) =>
    summaryText({ ...SUMMARY, moved: { ...SUMMARY.moved!, spilled, spilledResults: 8e8 } });
  assert.match(movedText(0), / 800 MB spilled to disk\n/);
  assert.match(movedText(2e8), / 800 MB spilled to disk\n? *\(200 MB compressed\)/);
});

test('the summary of a run in which no task ended counts no computations', () => {
  const tasks = { memory: 0, erred: 0, cancelled: 0, lost: 0, retried: 0, skipped: 0 };
  const none = { tasks, failed: [], failedTasks: 0 };
  assert.match(summaryText({ ...SUMMARY, ...none, computations: 0, makespan: null }), /^tasks {6}0 done\n/);
});

test('the summary of a run with unfinished tasks has no lower limit and no predictions', () => {
  const lines = summaryText({ ...SUMMARY, failed: [] }).split('\n');
  assert.equal(lines[2], 'cut off    2 tasks had not ended when the client closed: 1 add, 1 countPrimes.');
  assert.ok(lines.includes('           Only of the tasks that ended.'));
  assert.ok(!lines.some((line) => /No number of workers|^what if/.test(line)));
});

test('a program that ran mostly outside of its computations has a line that says when', () => {
  const line = (after: number, before = 0.4, starting = 0): string | undefined =>
    summaryText({ ...SUMMARY, outside: { before, starting, after } })
      .split('\n')
      .find((one) => one.startsWith('program '));
  assert.equal(line(9.4), 'program    400 ms before and 9.4 s after its computations');
  assert.equal(line(1), undefined);
  assert.equal(line(1, 9, 6), 'program    9 s before (6 s for the start of its cluster) and 1 s after its');
});

test('failed runs that were repeated are counted apart from other failed runs', () => {
  const firstLine = (erred: number, retried: number) =>
    summaryText({
      ...SUMMARY,
      tasks: { memory: 20, erred, cancelled: 0, lost: 0, retried, skipped: 0 },
      failedTasks: erred - retried,
    }).split('\n')[0];
  assert.match(firstLine(20, 20) ?? '', /20 done, 20 failed and were repeated in 3/);
  assert.match(firstLine(3, 1) ?? '', /20 done, 2 failed, 1 failed and was repeated in 3/);
});

test('workers and prefixes count runs if a task ran again, and tasks otherwise', () => {
  const text = (retried: number, lost: number) =>
    summaryText({ ...SUMMARY, tasks: { ...SUMMARY.tasks, retried, lost } });
  assert.match(text(0, 0), / 700 tasks\n.* 1,240 tasks /s);
  for (const repeated of [text(2, 0), text(0, 1)]) assert.match(repeated, / 700 runs\n.* 1,240 runs /s);
});

test('the lines of tasks and of a worker say that tasks mostly awaited promises', () => {
  const workers = [{ name: 'worker-0', tasks: 4, computed: 73, busy: 0.99, awaited: 72 }];
  const text = summaryText({ ...SUMMARY, computed: 73, workers });
  assert.match(text, /worker-0 {2}99 % busy {2}73 s {2}4 runs {2}99 % of it awaiting\n/);
  assert.match(text, /\s73 s of tasks,\s+99 % of it awaiting, in 2\.3 s\n/);
});

test('a worker without tasks has a line', () => {
  const workers = [{ name: 'worker-1', tasks: 0, computed: 0, busy: 0, awaited: 0 }];
  assert.match(summaryText({ ...SUMMARY, workers }), /worker-1 {2}0 % busy {2}0 runs\n/);
});

test('what took no time has no seconds and no share, and very small ones are not rounded to 0', () => {
  const prefix = { tasks: 1, erred: 0, longest: null, nbytes: 0 };
  const prefixes = [
    { ...prefix, prefix: 'fast', computed: 5e-8 },
    { ...prefix, prefix: 'cancelled', computed: 0 },
  ];
  const text = (computed: number): string => summaryText({ ...SUMMARY, computed, prefixes });
  assert.match(text(1), /fast {7}<0\.1 µs {2}<0\.1 % {2}1 run\n {11}cancelled {19}1 run\n/);
  const none = summaryText({ ...SUMMARY, computed: 0, prefixes: prefixes.slice(1) });
  assert.match(none, /computations;\s+2\.3 s\n/);
  assert.match(none, /prefixes {3}cancelled {2}1 run\n/);
});

test('many workers are summed up', () => {
  const workers = Array.from({ length: 64 }, (_, i) => ({
    name: `worker-${i}`,
    tasks: 10,
    computed: 1,
    busy: 1 - i / 100,
    awaited: 0,
  }));
  const lines = summaryText({ ...SUMMARY, failed: [], workers }).split('\n');
  assert.equal(lines.filter((line) => /worker-\d/.test(line)).length, 7);
  assert.ok(lines.some((line) => line.includes('and 57 more, 37 % to 93 % busy')));
});

test('a finding with a long name of several words is shortened and cleaned', () => {
  const name = `${'two words '.repeat(1000)}\n\u001b[2J\u202eend`;
  const text = summaryText({
    ...SUMMARY,
    findings: [
      {
        code: 'stragglers',
        title: name,
        seconds: 1,
        confidence: 'high',
        evidence: { text: name, numbers: {}, tasks: [], question: 'stragglers' },
        advice: name,
      },
    ],
  });
  assert.ok(text.length < 10_000, `${text.length} characters`);
  assert.match(text, /\([\d,]+ characters\)/);
  assert.match(text, /␛\[2J<U\+202E>end/);
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
});

test('no line is wider than 80 columns for any names', () => {
  const name = fc.string({ maxLength: 200 });
  fc.assert(
    fc.property(name, name, fc.array(name, { maxLength: 7 }), (prefix, worker, titles) => {
      const text = summaryText({
        ...SUMMARY,
        workers: [{ name: worker, tasks: 1e9, computed: 1e6, busy: 0.5, awaited: 0 }],
        prefixes: [{ prefix, tasks: 1e9, erred: 0, computed: 1e6, longest: 1e5, nbytes: 1 }],
        findings: titles.map((title) => ({
          code: 'stragglers',
          title,
          seconds: 1,
          confidence: 'high',
          evidence: { text: `${title} ${title}`, numbers: {}, tasks: [], question: 'stragglers' },
          advice: title,
        })),
      });
      for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
    }),
  );
});

test('a wait until lost workers are replaced names the worker', () => {
  const part = { kind: 'waiting for a worker', prefix: null, behind: null, seconds: 1 };
  const longPole = { floor: 1, byKind: [], byPrefix: [], parts: [part] };
  const textOf = (replaced: readonly string[]): string =>
    summaryText({ ...SUMMARY, longPole: { ...longPole, replaced } });
  assert.match(textOf(['worker-0']), /1 s {2}waiting until worker-0 was replaced after its loss\n/);
  assert.match(textOf(['worker-0', 'worker-1']), /1 s {2}waiting until 2 lost workers were replaced\n/);
  assert.match(textOf([]), /1 s {2}waiting for a worker\n/);
});

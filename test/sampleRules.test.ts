// Tests of the rules by which test/samples.test.ts compares what a code sample prints with its page. Some differences must
// be found, e.g. another number of tasks. Others must be accepted, e.g. another duration.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleModule } from './support/sampleModule.js';
import { firstMissing, isShown } from './support/sampleOutput.js';
import { differentCounts, missingLabels } from './support/sampleSummary.js';
import { samplesOf } from './support/samples.js';

const module = (text: string, names: readonly string[] = [], later = '') =>
  sampleModule(
    text,
    'sample',
    'ts',
    [{ module: 'context', names: new Map(names.map((name) => [name, undefined])) }],
    later,
  );

test('durations, sizes, shares, ports, tokens and bars may differ, other numbers may not', () => {
  assert.ok(isShown('[####    ] | 26% Completed | 4.2 s', '[########] | 100% Completed | 350 ms'));
  assert.ok(isShown('at http://127.0.0.1:40321/, 12.5 MB\n', 'at http://127.0.0.1:8787/, 1 KiB'));
  assert.ok(isShown('load-0123456789abcdef', 'load-8f3aa6c0d1'));
  assert.ok(isShown("[ 'execute', 'load', 'seconds' ] 12.4", "['execute', 'load', 'seconds'] 3"));
  assert.ok(!isShown('148933', '148934'));
  assert.ok(!isShown('26 tasks', '27 tasks'));
  assert.ok(!isShown('4 s, failed', '4 s'));
});

test('a bar that a slow machine prints several times is shown once, with its end', () => {
  const [earlier, end] = ['[###     ] | 40% Completed | 5.0 s\n', '[########] | 100% Completed | 9.1 s\n'];
  assert.ok(isShown(`${earlier}${earlier}${end}148933\n`, `${end}148933`));
  assert.ok(!isShown(`${end}${end}148933\n`, `${end}148933`));
  assert.ok(!isShown(`${earlier}148933\n`, '148933'));
});

test('… stands for any text, and a line … for any lines', () => {
  assert.ok(isShown("uses 'factor' which", "… 'factor' …"));
  assert.ok(isShown('a\nb\nc\nd\n', 'a\n…\nd'));
  assert.ok(isShown('a\n', 'a\n…'));
  assert.ok(!isShown('a\nb\nc\n', 'a\n…\nd'));
  assert.ok(!isShown('a\nb\n', 'a'));
});

test('values of comments have to be printed in their order', () => {
  assert.equal(firstMissing('1\nother\n2\n', ['1', '2']), undefined);
  assert.equal(firstMissing('2\n1\n', ['1', '2']), '2');
});

test('the labels of a summary are the words before its columns', () => {
  const summary = 'longpole: main.js took 4.7 s\ntasks      83 done\n           more\nlong pole   33 %\n';
  assert.deepEqual(missingLabels(summary, 'tasks   1 done\n'), ['longpole', 'long pole']);
});

test('the counts of a summary are those of the run and agree with each other', () => {
  const counts = {
    tasks: { memory: 3, erred: 0 },
    computations: 1,
    workers: [{ name: 'threads-0', tasks: 3 }],
    prefixes: [
      { prefix: 'add', tasks: 1 },
      { prefix: 'load', tasks: 2 },
    ],
  };
  const page = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;
  const tasks = 'tasks      3 done in 1 computation; 5 s of tasks in 4 s';
  const workers =
    'workers    threads-0  80 % busy  3.1 s  2 tasks\n           threads-1  60 % busy  2.3 s   1 task';
  const prefixes = 'prefixes   load  2.9 s  52 %  2 tasks  longest 1 s\n           and 1 more';
  assert.deepEqual(differentCounts(page(tasks, workers, prefixes), counts), []);
  assert.deepEqual(differentCounts(page(tasks, workers), undefined), []);
  assert.equal(differentCounts(page(tasks.replace('3', '4'), prefixes), counts).length, 1);
  assert.equal(differentCounts(page(tasks, workers.replace('2 tasks', '3 tasks')), undefined).length, 1);
  assert.equal(differentCounts(page(workers.replace('threads-0', 'threads-7')), counts).length, 1);
  assert.equal(differentCounts(page(prefixes.replace('2 tasks', '3 tasks')), counts).length, 1);
  assert.equal(differentCounts(page(prefixes.replace('1 more', '2 more')), counts).length, 1);
});

test('a sample imports the names that it lacks, exports its own, and prints what its comments show', async () => {
  const { typescript, javascript, names, shown, shownBelow } = await module(
    'const half = total / 2;\nhalf + 1; // 22\nconsole.log(half); // 21, in seconds\nfirst(half); // a remark\n// [ 1 ]',
    ['total', 'first'],
  );
  assert.equal(typescript.split('\n').length, 7);
  assert.match(typescript, /^import \{ total \} from '\.\/context\.js'; import \{ first \}.* const half/);
  assert.match(javascript, /inspect\(half \+ 1\)/);
  assert.doesNotMatch(javascript, /inspect\(first/);
  assert.deepEqual([...names], [['half', undefined]]);
  assert.deepEqual(shown, ['22', '21, in seconds']);
  assert.deepEqual(shownBelow, ['[ 1 ]']);
});

test('a package that an earlier sample imports is imported again', async () => {
  const first = await module("import { tasks } from 'longpole';\nconst one = 1;");
  const { javascript } = await sampleModule('tasks(one);', 'second', 'ts', [first], '');
  assert.match(javascript, /import \{ tasks \} from "longpole"/);
  assert.match(javascript, /import \{ one \} from ".\/sample.js"/);
});

test('an error of a comment is the code and the message of the rejection', async () => {
  const { javascript, shown } = await module("fail(1); // ERR_LONGPOLE_ABORTED: … 'x' …", ['fail']);
  assert.match(javascript, /error\.code \+ ": " \+ error\.message/);
  assert.deepEqual(shown, ["ERR_LONGPOLE_ABORTED: … 'x' …"]);
});

test('a name that neither the page nor the context defines is an error', async () => {
  await assert.rejects(module('console.log(total);'), /uses 'total'/);
});

test('what a later sample uses is not disposed at the end of its own', async () => {
  const text = 'await using client = await connect();';
  assert.match((await module(text, ['connect'])).javascript, /Symbol\.asyncDispose|__using/);
  assert.doesNotMatch((await module(text, ['connect'], 'client.close()')).javascript, /__using/);
});

test('an output belongs to the sample above it in the same section', () => {
  const page = (...parts: readonly string[]) => samplesOf(parts.join('\n'));
  const sh = '```sh\nls\n```\n';
  const text = '```text\nfile\n```\n';
  assert.equal(page(sh, text)[0]?.output?.text, 'file\n');
  assert.equal(page(sh, '## Next', text)[0]?.output, undefined);
  assert.equal(page('Write `a.mjs`:', '', '```js\n1;\n```')[0]?.file, 'a.mjs');
  assert.equal(page('```ts not run: needs a GPU\n1;\n```')[0]?.notRun, 'needs a GPU');
  assert.throws(() => page('```ts soon\n1;\n```'), /'soon' has no meaning/);
  assert.throws(() => page('```ruby\n1\n```'), /no rule checks samples in 'ruby'/);
});

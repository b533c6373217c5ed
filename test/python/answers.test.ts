// The Python package answers questions about traces as the command line does. Skipped without a Python with the libraries of
// tables.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { exportTrace, openTraces } from 'longpole/trace';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { longpoleIn } from '../support/longpoleCommands.js';
import { repositoryPath } from '../support/repository.js';
import { runOrThrow } from '../support/runCommand.js';
import { ENVIRONMENT } from './environment.js';

const EPOCH = 1_700_000_000;
const PLUGINS = ['TracePlugin', 'ResourceMonitor'];
const python = pythonWith('pandas, polars, pyarrow');

const folder = mkdtempSync(join(tmpdir(), 'longpole-answers-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

interface Refusal {
  readonly code: string;
  readonly text: string;
}

interface Opened {
  readonly repr: string;
  readonly html: string;
  readonly damage: object | null;
  readonly warnings: readonly string[];
  readonly findings: readonly { readonly code: string; readonly title: string; readonly seconds: number }[];
  readonly criticalPath: { readonly makespan: number; readonly byKind: readonly { seconds: number }[] };
  readonly tables: readonly string[];
  readonly rows: readonly (readonly [rows: number, columns: number])[];
  readonly default: string;
}

interface Outcome {
  readonly opened: Opened;
  readonly damaged: Opened;
  readonly empty: Opened;
  readonly dasf: Opened;
  readonly simulated: Readonly<Record<'two' | 'conditions' | 'all', readonly object[]>>;
  readonly refused: Readonly<Record<string, Refusal | null>>;
  readonly diff: object;
  readonly failed: { readonly failed: boolean; readonly reason: string };
  readonly diffTexts: readonly string[];
}

/** Writes a report of six loads on two workers and one last task. The file has characters that a page must escape. */
function writeReport(file: string, last: number): void {
  const loads = [0, 1, 2, 3, 4, 5].map((i) => ({
    key: `load-${i}`,
    worker: `w${i % 2}`,
    started: EPOCH + Math.floor(i / 2),
    stopped: EPOCH + Math.floor(i / 2) + 0.9,
  }));
  const needs = loads.map(({ key }) => key);
  const join = { key: '<b>-1', worker: 'w0', started: EPOCH + 3, stopped: EPOCH + 3 + last, needs };
  const workers = [
    { name: 'w0', threads: 1 },
    { name: 'w1', threads: 1 },
  ];
  exportTrace(syntheticTrace({ workers, tasks: [...loads, join] }), { to: 'html', output: file });
}

/** Runs answers.py once for all tests. */
async function run(name: string): Promise<Outcome> {
  writeReport(path('before.html'), 2);
  writeReport(path('after.html'), 9);
  writeFileSync(path('text.txt'), 'no trace');
  writeFileSync(path('empty.msgpack'), '');
  const whole = readFileSync(repositoryPath('test/fixtures/chrome/catapult.json'));
  writeFileSync(path('torn.json'), whole.subarray(0, 900));
  for (const plugin of PLUGINS) {
    const packed = readFileSync(repositoryPath(`test/fixtures/dasf-small/${plugin}-c096.msgpack.gz`));
    writeFileSync(path(`${plugin}.msgpack`), gunzipSync(packed));
  }
  const files = ['before.html', 'after.html', 'torn.json', 'text.txt', 'empty.msgpack', ...dasf];
  const args = [repositoryPath('test/python/answers.py'), ...files.map((file) => path(file))];
  return JSON.parse(await runOrThrow(name, args, { cwd: folder, env: ENVIRONMENT }));
}

const dasf = PLUGINS.map((plugin) => `${plugin}.msgpack`);
let outcome: Promise<Outcome> | undefined;

const longpole = longpoleIn(folder);

async function cli<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await longpole(args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

interface Analyzed {
  readonly analyses: Record<'findings' | 'critical-path', { readonly result: object }>;
}

const withOutcome = (test: (outcome: Outcome) => Promise<void> | void) => async (): Promise<void> => {
  assert.ok(python !== undefined);
  outcome ??= run(python);
  await test(await outcome);
};

describe('longpole for Python', {
  skip: python === undefined && 'no Python with pandas, polars, pyarrow',
}, () => {
  it(
    'returns the findings and the critical path of longpole/analysis',
    withOutcome(async ({ opened, dasf: events }) => {
      for (const [{ findings, criticalPath }, files] of [
        [opened, ['before.html']],
        [events, dasf],
      ] as const) {
        const args = ['analyze', '--json', '-a', 'findings,critical-path', ...files];
        const [{ analyses }] = await cli<[Analyzed]>(...args);
        assert.deepEqual(findings, analyses.findings.result);
        // Python names every field of a part, and JSON only those that the part has.
        const withoutNull = JSON.stringify(criticalPath, (_key, value: unknown) => value ?? undefined);
        assert.deepEqual(JSON.parse(withoutNull), analyses['critical-path'].result);
      }
      assert.ok(opened.findings.some(({ code }) => code === 'serial-tail'));
      const { makespan, byKind } = opened.criticalPath;
      assert.equal(makespan, 5);
      const sum = byKind.reduce((total, { seconds }) => total + seconds, 0);
      assert.ok(Math.abs(sum - makespan) < 1e-6);
    }),
  );

  it(
    'prints a run in one line, and its findings in a notebook',
    withOutcome(({ opened, empty }) => {
      assert.equal(empty.repr, '<longpole.Run empty.msgpack: no tasks, 0 findings>');
      assert.match(opened.repr, /^<longpole\.Run before\.html: 5 s, [1-7] findings?>$/);
      assert.match(opened.html, /^<p>longpole\.Run before\.html.*<table>.*<\/table>$/);
      assert.match(opened.html, /&lt;b&gt;/);
      assert.doesNotMatch(opened.html, /<b>/);
    }),
  );

  it(
    'returns every table as pandas, polars and pyarrow',
    withOutcome(({ opened, dasf: events }) => {
      for (const name of ['tasks', 'workers', 'transfers', 'memory']) assert.ok(opened.tables.includes(name));
      assert.deepEqual(
        opened.rows.map(([rows]) => rows),
        [7, 7, 7],
      );
      assert.equal(new Set(opened.rows.map(([, columns]) => columns)).size, 1);
      assert.equal(opened.default, 'pandas');
      const length = openTraces(dasf.map((file) => path(file)))[0]?.trace.tasks.length ?? 0;
      assert.ok(length > 4000);
      assert.deepEqual(
        events.rows.map(([rows]) => rows),
        [length, length, length],
      );
    }),
  );

  it(
    'opens the readable part of a damaged trace with a warning',
    withOutcome(({ opened, damaged }) => {
      assert.deepEqual([opened.damage, opened.warnings], [null, []]);
      assert.ok(damaged.damage !== null);
      assert.match(damaged.warnings.join(), /torn\.json is incomplete: \d+ bytes were skipped/);
    }),
  );

  it(
    'predicts a run as longpole simulate does',
    withOutcome(async ({ simulated }) => {
      const simulate = async (...args: readonly string[]): Promise<unknown> =>
        (await cli<{ rows: unknown }>('simulate', '--json', 'before.html', ...args)).rows;
      assert.deepEqual(simulated.two, await simulate('-w', '1,2'));
      assert.deepEqual(simulated.all, await simulate());
      const conditions = ['--faster', 'load=2', '--bandwidth', '10Gbit', '--memory-limit', '1GB'];
      assert.deepEqual(
        simulated.conditions,
        await simulate('-w', '2', ...conditions, '--scheduler-overhead', '200us'),
      );
    }),
  );

  it(
    'compares runs as longpole diff does',
    withOutcome(async ({ diff, failed, diffTexts }) => {
      const { stacks, ...before } = await cli<{ stacks: unknown }>(
        'diff',
        '--json',
        'before.html',
        'after.html',
      );
      assert.equal(stacks, null);
      assert.deepEqual(diff, before);
      assert.equal(failed.failed, true);
      assert.match(diffTexts.join('\n'), /^<longpole\.Diff passed: .*>\n<p>.*<table>.*&lt;b&gt;/);
    }),
  );

  it(
    'raises the error of the command with its code',
    withOutcome(({ refused }) => {
      const codes = Object.entries(refused).map(([name, refusal]) => [name, refusal?.code]);
      const { missing, format, ...wrong } = Object.fromEntries(codes);
      assert.deepEqual([missing, format], ['ERR_LONGPOLE_TRACE_FILE', 'ERR_LONGPOLE_TRACE_FORMAT']);
      assert.deepEqual(new Set(Object.values(wrong)), new Set(['ERR_LONGPOLE_INVALID_ARGUMENT']));
      const text = (name: string): string => refused[name]?.text ?? '';
      assert.match(text('missing'), /missing\.trace cannot be read/);
      assert.match(text('format'), /text\.txt is not a trace of a known format/);
      assert.match(text('table'), /There is no table 'task'\. The tables are: .*\btasks\b/);
      assert.match(text('kind'), /pandas, polars, pyarrow/);
      assert.match(text('workers'), /'0' is not a whole number of at least 1/);
      assert.match(text('failOver'), /'5' would be 500 %/);
      assert.match(text('comma'), /has a comma/);
    }),
  );
});

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import { nbytes } from '../graph/sizeOf.js';
import type { Graph } from '../protocol/graph.js';
import { cacheStaysOf } from '../trace/localMetrics.js';
import { decodeReport, type OpenedReport } from '../trace/recording/reportBytes.js';
import type { Trace } from '../trace/trace.js';
import { CacheProfiler } from './cacheProfiler.js';
import { fakeGet } from './fakeEngine.test.support.js';
import { Profiler } from './profiler.js';
import { ADD_TO, type PageSource, ProfilerTrace } from './profilerTrace.js';
import { ResourceProfiler } from './resourceProfiler.js';
import { taskText } from './taskText.js';
import { visualize } from './visualize.js';

const add = (a: number, b: number): number => a + b;
const graph: Graph = { 'add-1': [add, 1, 2], 'add-2': [add, 'add-1', 1], 'last-3': [add, 'add-1', 'add-2'] };

/** Returns the trace and the plots of the page of these profilers. */
function pageOf(...profilers: PageSource[]): { trace: Trace; plots: readonly string[] } {
  const page = new ProfilerTrace();
  for (const profiler of profilers) profiler[ADD_TO](page);
  return { trace: page.build(), plots: page.plots };
}

const keysOf = ({ tasks }: Trace): string[] =>
  Array.from({ length: tasks.length }, (_, row) => tasks.keyOf(row));
const callsOf = ({ tasks, strings }: Trace): string[] => Array.from(tasks.call, (call) => strings.get(call));

describe('the trace of the page', () => {
  it('has a plot per profiler over one table of tasks', () => {
    const prof = new Profiler();
    const cprof = new CacheProfiler({ metric: nbytes });
    // With this interval, only the samples at the start and the end are taken.
    const rprof = new ResourceProfiler({ dt: 3600 });
    fakeGet(graph, 'last-3', { callbacks: [prof, cprof, rprof], startTime: 100, batch: 2 });
    const { trace, plots } = pageOf(prof, rprof, cprof);
    assert.deepEqual(plots, ['tasks', 'resources', 'cache nbytes']);
    const { tasks, workers, strings } = trace;
    assert.deepEqual(
      Array.from(workers.name, (name) => strings.get(name)),
      ['fake-0', 'fake-1'],
    );
    assert.deepEqual(keysOf(trace), ['add-1', 'add-2', 'last-3']);
    assert.deepEqual(
      Array.from(tasks.prefix, (prefix) => strings.get(prefix)),
      ['add', 'add', 'last'],
    );
    assert.deepEqual(callsOf(trace), ['add(1, 2)', 'add(add-1, 1)', 'add(add-1, add-2)']);
    assert.deepEqual([...tasks.worker], [0, 0, 1]);
    assert.deepEqual([...tasks.started], [100, 101, 102]);
    assert.deepEqual([...tasks.stopped], [101, 102, 103]);
    assert.deepEqual([...tasks.dependencyRows], [0, 0, 1]);
    assert.equal(trace.resources.figures.get('rss')?.length, 2);
    const [cache] = cacheStaysOf(trace);
    assert.equal(cache?.metricName, 'nbytes');
    assert.deepEqual(
      cache.stays.map(({ task, metric }) => [task, metric]),
      [
        [0, 8],
        [1, 8],
        [2, 8],
      ],
    );
    assert.deepEqual(
      cache.stays.slice(0, 2).map(({ freeTime }) => freeTime),
      [103, 103],
    );
    rprof.close();
  });

  it('joins several runs', () => {
    const prof = new Profiler();
    fakeGet(graph, 'add-2', { callbacks: prof, workers: 1 });
    fakeGet({ 'add-1': [add, 5, 5] }, 'add-1', { callbacks: prof, workers: 1 });
    const { trace } = pageOf(prof);
    assert.equal(trace.workers.length, 1);
    assert.deepEqual(keysOf(trace), ['add-1', 'add-2', 'add-1']);
    assert.equal(callsOf(trace)[2], 'add(5, 5)');
    assert.equal(trace.computations.length, 2);
    assert.equal(new Set(trace.tasks.id).size, 3);
  });

  it('has a plot for each of two CacheProfilers with equal metric names, and a run of two Profilers once', () => {
    const profilers = [new Profiler(), new Profiler(), new CacheProfiler(), new CacheProfiler()];
    fakeGet(graph, 'last-3', { callbacks: profilers });
    const { trace, plots } = pageOf(...profilers);
    assert.deepEqual(plots, ['tasks', 'cache count', 'cache count 2']);
    assert.deepEqual(keysOf(trace), ['add-1', 'add-2', 'last-3']);
    assert.deepEqual(
      cacheStaysOf(trace).map(({ stays }) => stays.length),
      [3, 3],
    );
  });

  it('may be empty', () => {
    const { trace, plots } = pageOf(new Profiler(), new CacheProfiler(), new ResourceProfiler());
    assert.equal(trace.tasks.length, 0);
    assert.deepEqual(plots, ['tasks', 'cache count', 'resources']);
    assert.deepEqual(pageOf().plots, []);
  });

  it('comes from profilers only', () => {
    const wrong: PageSource = JSON.parse('{}');
    assert.throws(() => visualize([wrong]), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
  });
});

describe('the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-visualize-'));
  after(() => rmSync(folder, { recursive: true }));

  it('is a self-contained report with the trace and the program', () => {
    const [prof, cprof] = [new Profiler(), new CacheProfiler()];
    fakeGet(graph, 'last-3', { callbacks: [prof, cprof] });
    const path = visualize([prof, cprof], { filename: join(folder, 'profile.html'), title: 'my run' });
    assert.ok(isAbsolute(path));
    const html = readFileSync(path, 'utf8');
    const report = reportIn(html);
    assert.equal(report.title, 'my run');
    assert.equal(new URLSearchParams(report.address.slice(4)).get('plots'), 'tasks\ncache count');
    assert.deepEqual(callsOf(report.trace), ['add(1, 2)', 'add(add-1, 1)', 'add(add-1, add-2)']);
    const timesOf = (trace: Trace) =>
      // Each trace has different ids of texts.
      cacheStaysOf(trace)[0]!.stays.map((stay) => ({ ...stay, prefix: undefined }));
    assert.deepEqual(timesOf(report.trace), timesOf(pageOf(prof, cprof).trace));
    assert.match(html, /<title>my run<\/title>/);
    assert.doesNotMatch(html.replace(/<script type="module">.*<\/script>/s, ''), /@LONGPOLE_|<link|\ssrc=/);
    assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^"]*"/);
  });

  it('has a title with escaped text', () => {
    const title = `</title><script>alert("1")</script> $& $1 @LONGPOLE_DATA@ 'x' & y`;
    const html = readFileSync(visualize([], { filename: join(folder, 'title.html'), title }), 'utf8');
    assert.equal(html.split('<script>').length, 1);
    assert.ok(html.includes('&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; $&amp; $1'));
    assert.equal(reportIn(html).title, title);
  });

  it('has its path in the error if its folder does not exist', () => {
    const filename = join(folder, 'missing', 'profile.html');
    assert.throws(
      () => visualize([new Profiler()], { filename }),
      (error) =>
        error instanceof LongpoleError &&
        error.code === 'ERR_LONGPOLE_PAGE_FILE' &&
        error.message.includes(filename),
    );
  });
});

function reportIn(html: string): OpenedReport {
  const data = /<script id="longpole-trace"[^>]*>([A-Za-z0-9+/=]*)<\/script>/.exec(html)?.[1] ?? '';
  return decodeReport(inflateSync(Buffer.from(data, 'base64')));
}

describe('taskText', () => {
  const isKey = (text: string): boolean => text === 'a' || text === 'b';
  const sum = (...all: unknown[]): unknown => all;

  it('has keys by name, small values literally, others by type', () => {
    const cases: [unknown, string][] = [
      [[add, 'a', 1], 'add(a, 1)'],
      [[add, [add, 'a', 'b'], -2.5], 'add(add(a, b), -2.5)'],
      [[sum, ['a', 'b', 5]], 'sum([a, b, 5])'],
      [[sum], 'sum()'],
      [[sum, 'text', null, true, undefined, 10n], 'sum("text", null, true, undefined, 10n)'],
      [
        [sum, new Float64Array(1000), new ArrayBuffer(8), new Map([[1, 2]]), new Set()],
        'sum(Float64Array(1000), ArrayBuffer(8), Map(1), Set(0))',
      ],
      [[sum, { x: 1, y: 2 }, new Date(0), add], 'sum({x, y}, Date, add)'],
      [[() => 1, [1, 2, 3, 4]], 'lambda([1, 2, 3, …])'],
      ['a', 'a'],
      [7, '7'],
    ];
    for (const [task, text] of cases) assert.equal(taskText(task, isKey), text);
  });

  it('stays short', () => {
    const long = [sum, ...Array.from({ length: 100 }, () => 'x'.repeat(100))];
    assert.ok(taskText(long, isKey).length <= 80);
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [sum, deep];
    assert.equal(taskText(deep, isKey), 'sum(sum(sum(sum(…))))');
  });
});

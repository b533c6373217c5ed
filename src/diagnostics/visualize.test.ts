import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nbytes } from '../graph/sizeOf.js';
import type { Graph } from '../protocol/graph.js';
import { checkProfilePage } from '../protocol/profilePage.js';
import { CacheProfiler } from './cacheProfiler.js';
import { fakeGet } from './fakeEngine.test.support.js';
import type { PageSource } from './pageSource.js';
import { Profiler } from './profiler.js';
import { ResourceProfiler } from './resourceProfiler.js';
import { taskText } from './taskText.js';
import { profilePage, visualize } from './visualize.js';

const add = (a: number, b: number): number => a + b;
const graph: Graph = { 'add-1': [add, 1, 2], 'add-2': [add, 'add-1', 1], 'last-3': [add, 'add-1', 'add-2'] };

describe('the data of the page', () => {
  it('has a section per profiler over one table of tasks', () => {
    const prof = new Profiler();
    const cprof = new CacheProfiler({ metric: nbytes });
    // None of its own accord between those of the start and the end.
    const rprof = new ResourceProfiler({ dt: 3600 });
    fakeGet(graph, 'last-3', { callbacks: [prof, cprof, rprof], startTime: 100, batch: 2 });
    const page = profilePage([prof, rprof, cprof], 'title');
    checkProfilePage(page);
    assert.equal(page.title, 'title');
    assert.deepEqual(page.workers, ['fake-0', 'fake-1']);
    assert.deepEqual(page.tasks.keys, ['add-1', 'add-2', 'last-3']);
    assert.deepEqual(page.tasks.prefixes, ['add', 'last']);
    assert.deepEqual(page.tasks.texts, ['add(1, 2)', 'add(add-1, 1)', 'add(add-1, add-2)']);
    const [tasks, resources, cache] = page.sections;
    assert.ok(tasks?.type === 'tasks' && resources?.type === 'resources' && cache?.type === 'cache');
    assert.deepEqual([...tasks.task], [0, 1, 2]);
    assert.deepEqual([...tasks.worker], [0, 0, 1]);
    assert.deepEqual([...tasks.start], [100, 101, 102]);
    assert.deepEqual([...tasks.stop], [101, 102, 103]);
    assert.equal(resources.time.length, 2);
    assert.equal(cache.metricName, 'nbytes');
    assert.deepEqual([...cache.task], [0, 1, 2]);
    assert.deepEqual([...cache.metric], [8, 8, 8]);
    assert.deepEqual([...cache.freeTime.subarray(0, 2)], [103, 103]);
    rprof.close();
  });

  it('joins several runs', () => {
    const prof = new Profiler();
    fakeGet(graph, 'add-2', { callbacks: prof, workers: 1 });
    fakeGet({ 'add-1': [add, 5, 5] }, 'add-1', { callbacks: prof, workers: 1 });
    const page = profilePage([prof], '');
    assert.deepEqual(page.workers, ['fake-0']);
    assert.deepEqual(page.tasks.keys, ['add-1', 'add-2', 'add-1']);
    assert.equal(page.tasks.texts.at(2), 'add(5, 5)');
  });

  it('may be empty', () => {
    checkProfilePage(profilePage([new Profiler(), new CacheProfiler(), new ResourceProfiler()], ''));
    checkProfilePage(profilePage([], ''));
  });

  it('comes from profilers only', () => {
    const wrong: PageSource = JSON.parse('{}');
    assert.throws(() => visualize([wrong]), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
  });
});

describe('taskText', () => {
  const isKey = (text: string): boolean => text === 'a' || text === 'b';
  const sum = (...all: unknown[]): unknown => all;

  it('shows keys by name, small values as they are, the rest by kind', () => {
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

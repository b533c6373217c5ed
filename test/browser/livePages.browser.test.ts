// A live page shows what happens now: the tasks since the last pause, and the current graph. It fits into a narrow window.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Computation, TASK_ERRED, TASK_LOST, TASK_MEMORY } from '#internal/protocol/clusterObserver.js';
import { ScriptedCluster } from '#internal/server/dashboard.test.support.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import { progressOf } from '#internal/server/sums.js';
import { LiveTrace } from '#internal/trace/live/liveTrace.js';
import { complaintsOf, useBrowser } from '../support/browser.js';
import { comes, go, panel, said, viewOf } from '../support/dashboardPage.js';

const browser = useBrowser();
const START = 1_790_000_000;

function graph(number: number, size: number, prefix: string, submitted: number): Computation {
  return {
    number,
    firstId: number * 100,
    size,
    keys: Array.from({ length: size }, (_, i) => `${prefix}-${i}`),
    prefixOf: new Int32Array(size),
    prefixes: [prefix],
    functionOf: new Int32Array(size),
    functions: [prefix],
    spanOf: null,
    spans: [['default']],
    dependencyOffsets: new Int32Array(size + 1),
    dependencies: new Int32Array(0),
    externals: new Float64Array(0),
    given: new Int32Array(0),
    submitted: START + submitted,
    client: 'client',
    code: '',
  };
}

/** Runs the first `count` tasks of a computation one after the other, a second each. */
function run(
  trace: LiveTrace,
  computation: Computation,
  states: readonly number[],
  count = computation.size,
): void {
  const { submitted } = computation;
  const times = (offset: number) => Float64Array.from({ length: count }, (_, i) => submitted + i + offset);
  trace.computationAdded(computation);
  trace.tasksEnded({
    computation,
    worker: 0,
    count,
    ids: Int32Array.from({ length: count }, (_, i) => i),
    states: Uint8Array.from(states),
    types: new Uint16Array(count),
    typeNames: ['number'],
    nbytes: new Float64Array(count).fill(8),
    attempts: new Uint8Array(count).fill(1),
    ready: times(0),
    dispatched: times(0),
    received: times(0),
    started: times(0),
    stopped: times(1),
    acknowledged: submitted + count,
  });
}

/** Starts the dashboard of a cluster with two graphs and a pause of 50 s between them. */
async function startServer(size = 3): Promise<DashboardServer> {
  const trace = new LiveTrace();
  const facts = {
    index: 0,
    name: 'worker-0',
    address: '',
    host: 'host',
    pid: 1,
    threads: 1,
    memoryLimit: 1e9,
  };
  trace.workerAdded({ ...facts, startTime: START - 30 });
  run(trace, graph(1, 10, 'load', 0), new Array<number>(10).fill(TASK_MEMORY));
  const ends = Array.from({ length: size }, (_, i) => (i === 1 ? TASK_ERRED : TASK_MEMORY));
  run(trace, graph(2, size, 'fit', 60), ends);
  const source = new ScriptedCluster({ seed: 3, sizes: [1], workers: 1, batch: 1 }).source();
  const status = () => ({
    time: START + 200,
    states: { waiting: 0, queued: 0, processing: 0, memory: 12, erred: 1, forgotten: 3 },
    workers: [],
    running: [],
    ...progressOf(trace.totals, []),
  });
  return await DashboardServer.start({ source: { ...source, trace, status }, port: 0 });
}

test('a live page opens on Status and shows the tasks since the last pause, and the whole run on request', async () => {
  const server = await startServer();
  const { page } = await browser.open(browser.blank());
  const complaints = complaintsOf(page);
  await page.goto(server.link);
  await page.locator('main.page[data-page="status"][data-status="live"]').waitFor();
  const progress = await said(page, panel('Progress'), /2 \/ 3, 1 erred/);
  assert.match(progress, /12 memory, 1 erred/);
  assert.doesNotMatch(progress, /load|forgotten/);
  await said(page, '.bar .facts', /13 tasks.*1 failed/);
  const shows = async (start: number, stop: number) => {
    let text = '';
    const isSo = async () => {
      const view = await viewOf(page);
      text = `${view.start} to ${view.stop}`;
      return Math.abs(view.start - start) < 1 && Math.abs(view.stop - stop) < 1;
    };
    await comes(page, () => `the page shows ${text} instead of ${start} to ${stop}`, isSo);
  };
  await shows(60, 63);
  await page.getByRole('button', { name: 'Fit' }).click();
  await shows(0, 63);
  // The whole run is shown without the pause.
  await page.getByRole('img', { name: /^Time axis, without 50\.0\ss idle$/ }).waitFor();
  await go(page, 'stream');
  await shows(0, 63);
  await page.getByRole('button', { name: 'Now' }).click();
  await shows(60, 63);
  // The legend says that a prefix is not in this range. The names of the others stay beside their colours.
  await said(page, '.legend', /1 more is not in this range/);
  const leftOf = (selector: string) =>
    page.evaluate((one) => document.querySelector(one)?.getBoundingClientRect().left ?? 0, selector);
  assert.ok((await leftOf('.legend .entry .name')) - (await leftOf('.legend .entry .swatch')) < 30);
  await go(page, 'workers');
  await shows(0, 63);

  await go(page, 'groups');
  await said(page, '.graph-view', /fit · 3 \/ 3, 1 erred/);
  await go(page, 'graph');
  await said(page, 'main', /3 tasks;/);
  await page.getByLabel('Only the current graph').uncheck();
  await said(page, 'main', /13 tasks;/);
  assert.deepEqual(complaints, []);
  await page.context().close();
  await server.close();
});

test('the graph page of a running graph shows also the tasks that have not ended, with their states', async () => {
  const trace = new LiveTrace();
  // A chain of 5 tasks whose last 4 have not ended.
  const chain = {
    ...graph(1, 5, 'step', 0),
    dependencyOffsets: Int32Array.from([0, 0, 1, 2, 3, 4]),
    dependencies: Int32Array.from([0, 1, 2, 3]),
  };
  run(trace, chain, [TASK_MEMORY], 1);
  const source = new ScriptedCluster({ seed: 3, sizes: [1], workers: 1, batch: 1 }).source();
  const server = await DashboardServer.start({
    source: { ...source, trace, processing: () => new Set([101]) },
    port: 0,
  });
  const { page } = await browser.open(browser.blank());
  const complaints = complaintsOf(page);
  await page.goto(`${server.link}#graph`);
  await said(page, 'main', /5 tasks;.*3 waiting.*1 processing.*1 in memory or released/s);
  assert.equal(await page.locator('.graph-view .node').count(), 5);
  await page.getByRole('button', { name: 'step-1, processing' }).waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
  await server.close();
});

test('the groups of a large current graph are not said to be only those of the current graph', async () => {
  const server = await startServer(5001);
  const { page } = await browser.open(browser.blank());
  await page.goto(server.link);
  await page.locator('main.page[data-status="live"]').waitFor();
  await go(page, 'graph');
  const text = await said(page, 'main', /load · 10/);
  assert.doesNotMatch(text, /Only the current graph/);
  await page.context().close();
  await server.close();
});

test('a group counts a task as erred whose runs were all lost with their workers', async () => {
  const trace = new LiveTrace();
  run(trace, graph(1, 1, 'died', 0), [TASK_LOST]);
  const current = { total: 1, finished: 0, erred: 1, cancelled: 0 };
  const source = new ScriptedCluster({ seed: 3, sizes: [1], workers: 1, batch: 1 }).source();
  const status = () => ({
    time: START + 10,
    states: { waiting: 0, queued: 0, processing: 0, memory: 0, erred: 1, forgotten: 0 },
    workers: [],
    running: [],
    progress: [{ prefix: 'died', processing: 0, seconds: 0, ...current, current }],
    graphStart: START,
  });
  const server = await DashboardServer.start({ source: { ...source, trace, status }, port: 0 });
  const { page } = await browser.open(browser.blank());
  await page.goto(`${server.link}#groups`);
  await said(page, 'main', /died · 1 \/ 1, 1 erred/);
  await page.context().close();
  await server.close();
});

test('every page, with all its buttons, fits into windows of 420 and 700 px', async () => {
  const server = await startServer();
  const { page } = await browser.open(browser.blank());
  await page.goto(server.link);
  // The page receives rows after its status.
  await said(page, '.bar .facts', /13 tasks/);
  const names = await page.evaluate(() => globalThis.longpoleDashboard?.pages() ?? []);
  for (const [size, name] of [420, 700].flatMap((size) => names.map((name) => [size, name] as const))) {
    await page.setViewportSize({ width: size, height: 800 });
    await go(page, name);
    const { width, link } = await page.evaluate(() => ({
      width: document.documentElement.scrollWidth,
      link: document.querySelector('nav [aria-current]')?.getBoundingClientRect().right ?? 9999,
    }));
    assert.ok(width <= size, `${name} is ${width} px wide in ${size}`);
    assert.ok(Math.floor(link) <= size, `the link of ${name} ends at ${link} px in ${size}`);
  }
  await page.context().close();
  await server.close();
});

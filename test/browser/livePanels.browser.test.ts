// What panels of a live page say: why they are empty and what to do, that the program has ended, and the load of many workers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Computation, TASK_LOST } from '#internal/protocol/clusterObserver.js';
import type { WorkerRow } from '#internal/protocol/viewMessages.js';
import { ScriptedCluster } from '#internal/server/dashboard.test.support.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import { LiveTrace } from '#internal/trace/live/liveTrace.js';
import { complaintsOf, useBrowser } from '../support/browser.js';
import { go, panel, said } from '../support/dashboardPage.js';

const browser = useBrowser();
const START = 1_790_000_000;

const WORKER = { index: 0, name: 'w0', address: '', host: '', pid: 1, threads: 1, memoryLimit: 0 };
const ROW: WorkerRow = {
  ...WORKER,
  ...{ status: 'running', processing: 0, occupancy: 0, process: 0 },
  ...{ managed: 0, unmanaged: 0, spilled: 0, started: START },
};

type Status = ReturnType<ReturnType<ScriptedCluster['source']>['status']>;

/** Opens the dashboard of a cluster whose trace and status the test gives. */
async function opened(trace: LiveTrace, given: Partial<Status>, prepare?: (page: Page) => Promise<void>) {
  const source = new ScriptedCluster({ seed: 3, sizes: [1], workers: 1, batch: 1 }).source();
  const status = () => ({ ...source.status(), states: {}, ...given });
  const server = await DashboardServer.start({ source: { ...source, trace, status }, port: 0 });
  const { page } = await browser.open(browser.blank());
  await prepare?.(page);
  const complaints = complaintsOf(page);
  await page.goto(server.link);
  await page.locator('main.page[data-status="live"]').waitFor();
  return {
    page,
    close: async () => {
      assert.deepEqual(complaints, []);
      await page.context().close();
      await server.close();
    },
  };
}

test('before the first task, each page about tasks says how to start one', async () => {
  const trace = new LiveTrace();
  trace.workerAdded({ ...WORKER, startTime: START });
  const { page, close } = await opened(trace, { workers: [ROW] });
  for (const name of ['summary', 'metrics', 'compute', 'groups', 'graph']) {
    await go(page, name);
    await said(
      page,
      'main.page',
      /No task has ended yet.*Start tasks with compute, client\.submit or client\.map/s,
    );
  }
  await go(page, 'contention');
  await said(page, panel('Time in tasks without a core'), /No worker has reported CPU times.*next heartbeat/);
  await go(page, 'workers');
  await said(page, panel('Work by thread'), /No task has run on a worker yet/);
  await close();
});

test('the page of a worker with several threads has all its running tasks', async () => {
  const trace = new LiveTrace();
  trace.workerAdded({ ...WORKER, threads: 2, startTime: START });
  const row = { prefix: 'load', worker: 0, started: START };
  const running = [
    { ...row, id: 1, key: 'load-1' },
    { ...row, id: 2, key: 'load-2' },
    { ...row, id: 3, key: 'load-3', worker: 1 },
  ];
  const workers = [{ ...ROW, threads: 2, processing: 1 }];
  const { page, close } = await opened(trace, { time: START + 3, workers, running });
  const bar = page.locator(`${panel('Tasks processing')} .track`);
  assert.equal(await bar.getAttribute('title'), '1 task');
  await go(page, 'workers');
  await page.getByRole('button', { name: 'w0' }).click();
  const shown = await said(page, panel('Running now'), /load-1 for 3\.00 s.*load-2 for 3\.00 s/s);
  assert.doesNotMatch(shown, /load-3/);
  await close();
});

test('tasks that wait because there is no worker are counted, with the call that starts workers', async () => {
  const { page, close } = await opened(new LiveTrace(), { states: { waiting: 2, queued: 1, forgotten: 4 } });
  await go(page, 'groups');
  await said(page, 'main.page', /no worker is connected.*The 3 tasks that.*cluster\.scale\(2\)/s);
  await close();
});

test('a run that was lost with its worker is no failed task while the task waits to run again', async () => {
  const trace = new LiveTrace();
  const computation: Computation = {
    ...{ number: 1, firstId: 1, size: 1, keys: ['load-1'], prefixOf: new Int32Array(1), prefixes: ['load'] },
    ...{ functionOf: new Int32Array(1), functions: ['load'], spanOf: null, spans: [['default']] },
    ...{ dependencyOffsets: new Int32Array(2), dependencies: new Int32Array(0), given: new Int32Array(0) },
    ...{ externals: new Float64Array(0), submitted: START, client: 'client', code: '' },
  };
  const worker = { ...WORKER, startTime: START };
  trace.workerAdded(worker);
  trace.computationAdded(computation);
  const never = Float64Array.of(Number.NaN);
  trace.tasksEnded({
    ...{ computation, worker: 0, count: 1, ids: new Int32Array(1), states: Uint8Array.of(TASK_LOST) },
    ...{
      types: new Uint16Array(1),
      typeNames: [''],
      nbytes: new Float64Array(1),
      attempts: Uint8Array.of(1),
    },
    ...{ ready: never, dispatched: never, received: never, started: never, stopped: never },
    acknowledged: START + 1,
  });
  trace.workerRemoved(worker, START + 1, 'killed');
  const { page, close } = await opened(trace, { states: { waiting: 1 } });
  await go(page, 'errors');
  await said(page, '.bar .facts', /0 workers now, 1 at most/);
  await said(page, panel('Failed tasks'), /0 tasks, 0 of 1 run\n.*No task has failed/s);
  // The search finds the task, although no task stream shows it, and leads to the graph.
  await page.getByRole('searchbox').fill('load-1');
  await said(page, '.search .found', /1 found/);
  await page.getByRole('searchbox').press('Enter');
  await page.locator('main.page[data-page="graph"]').waitFor();
  await close();
});

test('a page whose server does not answer for some seconds says that the program has probably ended', async () => {
  let isKilled = false;
  let kill = (): void => undefined;
  /** The page has its answers only after the test has seen what it shows without them. */
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { page, close } = await opened(new LiveTrace(), {}, (one) =>
    one.routeWebSocket(/\/api\/live/, async (socket) => {
      if (isKilled) {
        await answered;
        void socket.close({ code: 1011 });
        return;
      }
      const server = socket.connectToServer();
      kill = () => {
        isKilled = true;
        void socket.close({ code: 1011 });
        void server.close();
      };
    }),
  );
  kill();
  await said(page, '.banner.lost', /^The connection to the scheduler is lost/);
  answer();
  await said(
    page,
    '.banner.lost',
    /Nothing answers at 127\.0\.0\.1:\d+, so the program has probably ended\./,
  );
  isKilled = false;
  await page.locator('main.page[data-status="live"]').waitFor();
  await close();
});

test('the tasks, the memory and the CPU usage of 300 workers are shown as histograms', async () => {
  const trace = new LiveTrace();
  const workers = Array.from({ length: 300 }, (_, index) => ({
    ...{ ...ROW, index, name: `w${index}`, processing: index % 3, managed: (1 + (index % 2)) * 1e6 },
    status: index < 7 ? ('paused' as const) : ('running' as const),
  }));
  for (const { index, name } of workers) trace.workerAdded({ ...WORKER, index, name, startTime: START });
  const time = START + 10;
  for (let index = 0; index < 20; index++)
    trace.resources({ time, worker: index, cpu: 50, rss: 0, heap: 0, external: 0, eventLoopDelay: 0 });
  const { page, close } = await opened(trace, { time, workers });
  const counts = (title: string) => page.locator(`${panel(title)} .bars .number`).allInnerTexts();
  await said(page, panel('Tasks processing'), /7 workers paused.*these tasks, of 300 workers/s);
  assert.deepEqual(await counts('Tasks processing'), ['100', '100', '100']);
  await said(page, panel('Memory per worker'), /this memory, of 300 workers.*Cluster: 450 MB/s);
  const byMemory = (await counts('Memory per worker')).filter((count) => count !== '0');
  assert.deepEqual(byMemory, ['150', '150']);
  await said(page, panel('Occupancy and CPU'), /this CPU usage, of 20 workers/);
  await go(page, 'workers');
  const heading = '.plot-heading:has-text("CPU")';
  await said(page, heading, /and \d more\s*8 not drawn/);
  const end = await page.locator(`${heading} .values`).evaluate((values) => {
    const last = values.lastElementChild?.getBoundingClientRect().right ?? 0;
    return last - values.getBoundingClientRect().right;
  });
  assert.ok(end <= 0, `the heading is ${end} px too long`);
  await close();
});

// The dashboard as a report from disk in a browser. Numbers on the page are compared with the analyses of the same trace.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { openTrace } from 'longpole/trace';
import { criticalPath } from '#internal/analysis/criticalPath.js';
import { contending } from '#internal/analysis/findings/workloads.test.support.js';
import { idleThreadSeconds } from '#internal/analysis/idleThreads.js';
import { timeByPrefix } from '#internal/analysis/timeTables.js';
import { formatBytes, formatCount, formatDuration } from '#internal/dashboard/model/format.js';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import type { Trace } from '#internal/trace/trace.js';
import { useBrowser } from '../support/browser.js';
import { everyPage, go, panel, plain, said, tabTo, textOf, whole } from '../support/dashboardPage.js';

const browser = useBrowser();
const EPOCH = 1_700_000_000;

/** Returns a trace with rows for every page. */
function sampleTrace(hostile = ''): Trace {
  const tasks = Array.from({ length: 60 }, (_, i) => ({
    key: `${i % 3 === 0 ? 'load' : `fit${hostile}`}-${i}`,
    prefix: i % 3 === 0 ? 'load' : `fit${hostile}`,
    worker: `w${i % 2}`,
    started: EPOCH + i * 0.1,
    stopped: EPOCH + i * 0.1 + 0.15,
    needs: i > 2 ? [`${(i - 3) % 3 === 0 ? 'load' : `fit${hostile}`}-${i - 3}`] : [],
    nbytes: 1000 * i,
    state: i === 59 ? ('erred' as const) : ('memory' as const),
  }));
  return syntheticTrace({
    workers: [
      { name: 'w0', threads: 1, memoryLimit: 2e9 },
      { name: 'w1', threads: 1, memoryLimit: 2e9 },
    ],
    tasks,
    memory: [{ worker: 'w0', time: EPOCH + 1, managed: 4e8, unmanaged: 1e8, spilled: 2e8 }],
    resources: [
      { time: EPOCH, figures: { host_cpu: 120 } },
      { time: EPOCH + 5, figures: { host_cpu: 180 } },
    ],
    transfers: [
      { worker: 'w1', peer: 'w0', keys: ['load-0'], nbytes: 5e6, start: EPOCH + 0.2, stop: EPOCH + 0.3 },
    ],
    intervals: [{ worker: 'w0', action: 'disk-write', start: EPOCH + 7, stop: EPOCH + 8, nbytes: 2e8 }],
    metrics: [
      { time: EPOCH, worker: 'w0', prefix: 'load', activity: 'thread-cpu', value: 2.5 },
      { time: EPOCH, worker: 'w0', prefix: `fit${hostile}`, activity: 'thread-noncpu', value: 1.25 },
      { time: EPOCH, worker: 'w0', context: 'get-data', activity: 'network', value: 0.5 },
      { time: EPOCH, worker: 'w0', prefix: 'load', activity: 'memory-read', unit: 'bytes', value: 3e6 },
    ],
    events: [{ time: EPOCH + 1, topic: `warning${hostile}`, text: `a text ${hostile}` }],
  });
}

async function openReport(trace: Trace, hash = '', title = 'sample') {
  const path = writeReport(trace, browser.path(`${Math.random().toString(36).slice(2)}.html`), { title });
  const opened = await browser.open(path, {}, hash);
  await whole(opened.page);
  return { ...opened, path };
}

test('every page of a report opens from disk without errors, and openTrace reads the file', async () => {
  const trace = sampleTrace();
  const { page, complaints, path } = await openReport(trace);
  await everyPage(page);
  assert.deepEqual(complaints, []);
  const back = openTrace(path);
  assert.equal(back.tasks.length, 60);
  assert.deepEqual(back.totals, trace.totals);
  await page.context().close();
});

test('the time of tasks comes with the part in which they awaited promises', async () => {
  const tasks = [{ key: 'read-0', started: EPOCH, stopped: EPOCH + 4 }];
  const awaiting = (seconds: number) => [
    { worker: 'w0', action: 'await' as const, start: EPOCH, stop: EPOCH + seconds, task: 'read-0' },
  ];
  for (const [seconds, text] of [
    [3, /Time of tasks\s+4\.00 s 100 % of 1 thread, 3\.00 s of it awaiting\s/],
    [0.3, /Time of tasks\s+4\.00 s 100 % of 1 thread\s/],
  ] as const) {
    const { page } = await openReport(syntheticTrace({ tasks, intervals: awaiting(seconds) }));
    assert.match(await textOf(page, panel('The run')), text);
    await page.context().close();
  }
});

test('the numbers of a report equal the results of the analyses', async () => {
  const trace = sampleTrace();
  const { page } = await openReport(trace);
  const path = criticalPath(trace);
  const figures = await textOf(page, panel('The run'));
  assert.match(figures, /Tasks\s+60 1 failed/);
  assert.ok(figures.includes(plain(formatDuration(path.makespan))), figures);
  assert.ok(figures.includes(plain(formatBytes(5e6))), figures);
  const bar = await said(page, panel('What the run waited for'), /compute/);
  for (const { kind, seconds } of path.byKind)
    assert.ok(bar.includes(plain(`${kind} ${formatDuration(seconds)}`)), bar);
  await go(page, 'compute');
  const table = timeByPrefix(trace);
  const lines = page.locator(`${panel('By prefix')} tbody tr`);
  await lines.nth(table.length - 1).waitFor();
  const rows = await lines.allInnerTexts();
  for (const [i, row] of table.rows.entries()) {
    assert.ok(plain(rows[i] ?? '').includes(plain(formatDuration(Number(row['Duration (s)'])))), rows[i]);
    assert.ok((rows[i] ?? '').includes(formatCount(Number(row['Tasks']))), rows[i]);
  }
  await go(page, 'metrics');
  await said(page, panel('Task execution, by function'), /total 3\.75 s/);
  await said(
    page,
    panel('Task execution, by activity'),
    new RegExp(`idle\\s+${plain(formatDuration(idleThreadSeconds(trace)))}`),
  );
  await said(page, panel('Send data, by activity'), /network\s+500 ms/);
  await page.getByLabel('Unit').selectOption('bytes');
  await said(page, panel('Task execution, by activity'), /memory-read\s+3 MB/);
  await go(page, 'status');
  await said(page, panel('Memory per worker'), /Cluster: 500 MB of 4 GB, 200 MB on disk/);
  await go(page, 'bandwidth');
  await said(page, panel('Transfers between workers'), /w0\s+5 MB/);
  await page.context().close();
});

test('the summary names the chain of tasks or the lock that makes a run as long as it is with more workers', async () => {
  for (const [seconds, reason] of [
    [5, /shorter than 5\.00 s: tasks wait for Lock 'x', while others hold it\./],
    [0.2, /shorter than 1[.\d]* s, the duration of its longest chain of tasks/],
  ] as const) {
    const { page, complaints } = await openReport(syntheticTrace(contending(seconds)));
    await said(page, panel('What the run waited for'), reason);
    assert.deepEqual(complaints, []);
    await page.context().close();
  }
});

test('the bars of the critical path name the queue that tasks await', async () => {
  const tasks = ['take', 'load'].map((prefix, i) => ({
    key: `${prefix}-0`,
    needs: i === 0 ? [] : ['take-0'],
    started: EPOCH + 10 * i,
    stopped: EPOCH + 10 * i + (i === 0 ? 10 : 2),
  }));
  const intervals = tasks.map(({ key, started, stopped }) => {
    return { worker: 'w0', action: 'await' as const, start: started, stop: stopped - 0.5, task: key };
  });
  const metric = { time: EPOCH + 10, worker: 'w0', context: 'shared', prefix: 'take', value: 9.5 };
  const metrics = [{ ...metric, activity: "wait for Queue 'jobs'" }];
  const { page } = await openReport(syntheticTrace({ tasks, intervals, metrics }));
  await said(page, panel('What the run waited for'), /awaiting Queue 'jobs' 11\.0 s/);
  const bars = page.locator(`${panel('The critical path by prefix')} .track`);
  const texts = await bars.evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
  assert.ok(
    texts.some((text) => plain(text).includes("awaiting Queue 'jobs' 9.50 s")),
    texts.join('; '),
  );
  assert.ok(
    texts.some((text) => plain(text).includes('awaiting 1.50 s')),
    texts.join('; '),
  );
  await page.context().close();
});

test('the summary gives a reason instead of predictions if workers paused for most of the run', async () => {
  const tasks = Array.from({ length: 20 }, (_, i) => {
    const started = (i >> 1) + (i < 10 ? 0 : 60);
    return { key: `work-${i}`, worker: `w${i % 2}`, ready: 0, started, stopped: started + 1 };
  });
  const pause = (time: number, topic: string) =>
    ['w0', 'w1'].map((worker) => ({ time, worker, topic, text: worker }));
  const events = [...pause(5, 'worker-paused'), ...pause(65, 'worker-unpaused')];
  const { page, complaints } = await openReport(syntheticTrace({ tasks, events }));
  const reason = /A simulation cannot stand for this run: workers made 2 pauses\./;
  await said(page, panel('What if a prefix were twice as fast'), reason);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a report shows one line per GPU', async () => {
  const times = Array.from({ length: 40 }, (_, i) => EPOCH + i * 0.15);
  const share = (time: number, gpu: number) => 50 + 40 * Math.sin(time - EPOCH + gpu);
  const trace = syntheticTrace({
    tasks: [{ key: 'train-1', worker: 'w0', started: EPOCH, stopped: EPOCH + 6 }],
    resources: times.map((time) => ({
      time,
      figures: {
        host_cpu: 90,
        gpu_utilization: (share(time, 0) + share(time, 1)) / 2,
        gpu_memory_used: 14e9,
        gpu_0_utilization: share(time, 0),
        gpu_1_utilization: share(time, 1),
        gpu_0_memory_used: 8e9,
        gpu_1_memory_used: 6e9,
      },
    })),
  });
  const { page, complaints } = await openReport(trace);
  await go(page, 'system');
  const headings = (await page.locator('.plot-heading').allInnerTexts()).map(plain);
  const gpu = headings.find((text) => /^GPU\s+peak\s+GPU 0/.test(text)) ?? '';
  assert.match(gpu, /GPU 0\s+89.9 %\s+GPU 1\s+90 %/);
  const memory = headings.find((text) => text.startsWith('GPU memory')) ?? '';
  assert.match(memory, /GPU 0\s+8 GB\s+GPU 1\s+6 GB/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the graphs of a report can be used by keyboard, and every node has a name', async () => {
  const { page, complaints } = await openReport(sampleTrace());
  /** Waits until the node with this name has the focus. */
  const focused = (name: string) => page.locator(`.graph-view .node[aria-label^="${name}"]:focus`).waitFor();
  await go(page, 'graph');
  // Tab leads to the last task after the page has laid out the graph.
  await page.locator('.graph-view .node[tabindex="0"][aria-label^="fit-59"]').waitFor();
  await tabTo(page, '.node');
  await focused('fit-59');
  // Twenty layers do not fit side by side, so the dependencies of a task are above it.
  await page.keyboard.press('ArrowUp');
  await focused('fit-56');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Show fit-56 in the task stream' }).waitFor();
  await focused('fit-56');
  await page.keyboard.press('Home');
  const names = await page
    .locator('.graph-view .node')
    .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label') ?? ''));
  assert.ok(names.length === 60 && names.every((name) => name !== ''));
  assert.equal(await page.locator('.graph-view .node[tabindex="0"]').count(), 1);
  await go(page, 'groups');
  await page.locator('.graph-view .node').first().waitFor();
  await tabTo(page, '.node');
  await page.locator('.graph-view .node[aria-label*=" task"]:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('main.page[data-page="stream"]').waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('Tab reaches every control of every page with a visible focus, and a link skips the navigation', async () => {
  const { page, complaints } = await openReport(sampleTrace());
  const focused = () =>
    page.evaluate(() => {
      const { activeElement } = document;
      if (activeElement === null || activeElement === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(activeElement);
      const circle = activeElement.querySelector('circle');
      const ring = circle === null ? '' : getComputedStyle(circle).strokeWidth;
      const isSeen = (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) || ring === '4px';
      return { isSeen, text: activeElement.outerHTML.slice(0, 120) };
    });
  for (const name of await page.evaluate(() => globalThis.longpoleDashboard?.pages() ?? [])) {
    await go(page, name);
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    await page.locator('main.page:focus').waitFor();
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      const at = await focused();
      if (at === undefined) break;
      assert.ok(at.isSeen, `${name}: ${at.text}`);
    }
  }
  assert.match(await page.title(), /^Logs – sample – Longpole$/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a link to a report opens a page, a time range and a task, and keys and search work there', async () => {
  const trace = sampleTrace();
  const { page, complaints } = await openReport(trace, '#stream?from=1&to=2&task=load-15');
  await said(page, '.details .key', /^load-15$/);
  await said(page, '.details', /Lifecycle[\s\S]*started[\s\S]*Needs 1 task[\s\S]*load-12/);
  const view = await page.evaluate(() => globalThis.longpoleDashboard?.view());
  assert.ok(view !== undefined && Math.abs(view.start - 1) < 1e-3 && Math.abs(view.stop - 2) < 1e-3);
  await page.keyboard.press('0');
  await page.evaluate(() => globalThis.longpoleDashboard?.idle());
  await page.keyboard.press('/');
  await page.keyboard.type('load-3');
  await page.keyboard.press('Enter');
  await said(page, '.search .found', /1 of 5/);
  await page.locator('.search input').blur();
  await page.keyboard.press('?');
  await page.locator('dialog.help[open]').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => location.hash.includes('search=load-3'));
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a report shows names, texts and titles as text and never as HTML', async () => {
  const hostile = '</script><img src=x onerror=globalThis.harmed=1>$&';
  const { page, complaints } = await openReport(sampleTrace(hostile), '', hostile);
  await everyPage(page);
  assert.equal(await page.evaluate(() => globalThis.harmed), undefined);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a report with truncated data shows an error', async () => {
  const path = writeReport(sampleTrace(), browser.path('cut.html'));
  const opened = openTrace(path);
  assert.equal(opened.tasks.length, 60);
  const html = readFileSync(path, 'utf8');
  writeFileSync(path, html.replace(/(type="application\/octet-stream">.{200})[^<]*/, '$1'));
  assert.throws(() => openTrace(path), { code: 'ERR_LONGPOLE_TRACE_FORMAT' });
  const { page } = await browser.open(path);
  await said(page, '.problem', /damaged[\s\S]*ERR_LONGPOLE_PAGE_DATA/);
  await page.context().close();
});

test('every page of a report fits a width of 1,024 pixels in dark colours', async () => {
  const path = writeReport(sampleTrace(), browser.path('dark.html'));
  const { page, complaints } = await browser.open(path, {
    viewport: { width: 1024, height: 768 },
    colorScheme: 'dark',
  });
  await whole(page);
  await everyPage(page);
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(ground, 'rgb(20, 23, 28)');
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('every page of a report without tasks explains how to get data', async () => {
  const { page, complaints } = await openReport(syntheticTrace({ workers: [], tasks: [] }));
  await everyPage(page);
  await go(page, 'summary');
  await said(page, 'main.page', /No task ran[\s\S]*compute/);
  await go(page, 'profile');
  await said(page, 'main.page', /The trace has no samples/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

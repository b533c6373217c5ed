// Links to a view of the dashboard: page, time range, selection, search and options of a page, in a report, on the server of
// a recorded trace, and on a running cluster.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, delayed, LocalCluster } from 'longpole';
import { viewTrace } from 'longpole/trace';
import type { Page } from 'playwright-core';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { useBrowser } from '../support/browser.js';
import { go, panel, ready, said, viewOf, whole } from '../support/dashboardPage.js';
import { EPOCH, loadsAndFits } from '../support/sampleTraces.js';

const browser = useBrowser();

const trace = loadsAndFits({
  metrics: [
    { time: EPOCH, worker: 'w0', prefix: 'load', activity: 'thread-cpu', value: 2.5 },
    { time: EPOCH, worker: 'w0', prefix: 'load', activity: 'memory-read', unit: 'bytes', value: 3e6 },
    { time: EPOCH, worker: 'w1', prefix: 'fit', activity: 'memory-read', unit: 'bytes', value: 7e6 },
  ],
  events: [
    { time: EPOCH + 1, topic: 'worker-paused', text: 'w0' },
    { time: EPOCH + 2, topic: 'restart', text: 'everything' },
  ],
});

/** Opens the same link in a report and on the page of a server. */
async function openBoth(hash: string) {
  const report = await browser.open(writeReport(trace, browser.path('links.html')), {}, hash);
  const server = await viewTrace(trace, { port: 0 });
  const served = await browser.open(browser.blank());
  await served.page.goto(`${server.link}${hash}`);
  const pages = [report.page, served.page];
  for (const page of pages) await whole(page);
  const close = async () => {
    assert.deepEqual(report.complaints, []);
    await server.close();
    for (const page of pages) await page.context().close();
  };
  return { pages, close };
}

test('a link restores the page, time range, search and task in a report and on a server', async () => {
  const { pages, close } = await openBoth('#stream?from=5.5&to=8.5&search=fit&task=fit-2');
  for (const page of pages) {
    await said(page, '.details .key', /^fit-2$/);
    assert.equal(await page.locator('.search input').inputValue(), 'fit');
    const view = await viewOf(page);
    assert.ok(Math.abs(view.start - 5.5) < 1e-3 && Math.abs(view.stop - 8.5) < 1e-3);
    // Going back in the history keeps the time range.
    await go(page, 'workers');
    await page.goBack();
    await page.locator('main.page[data-page="stream"]').waitFor();
    await said(page, '.legend', /In the visible 3\.00 s/);
  }
  await close();
});

test('going back to an address without a worker shows all workers', async () => {
  const { page } = await browser.open(writeReport(trace, browser.path('back.html')), {}, '#workers');
  await whole(page);
  const received = page.locator(panel('Received'));
  await page.evaluate(() => {
    location.hash = '#workers?worker=w1';
  });
  await received.waitFor();
  await page.goBack();
  await received.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => location.hash), '#workers');
  await page.goForward();
  await received.waitFor();
  await page.context().close();
});

test('a link restores the options of a page, and the address contains changed options', async () => {
  const { pages, close } = await openBoth('#metrics?unit=bytes&functions=fit');
  for (const page of pages) {
    assert.match(await said(page, panel('Task execution, by function'), /total 7 MB/), /fit/);
    await page.getByLabel('Unit').selectOption('seconds');
    await page.waitForFunction(() => location.hash.includes('unit=seconds'));
    await page.evaluate(() => {
      location.hash = '#graph?node=load-2';
    });
    await page.getByRole('button', { name: 'Show load-2 in the task stream' }).waitFor();
    await page.evaluate(() => {
      location.hash = '#events?topic=restart';
    });
    assert.doesNotMatch(await said(page, panel('Events'), /everything/), /paused/);
  }
  await close();
});

/**
 * Opens the link to a task of a running cluster. The page gives up some seconds after its first rows, so its clock stands still.
 */
async function openLive(link: string): Promise<Page> {
  const { page } = await browser.open(browser.blank());
  await page.addInitScript(() => {
    performance.now = () => 0;
  });
  await page.goto(link);
  return page;
}

test('a link to a running cluster opens its time range and task', async () => {
  await using cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
  await using client = await connect(cluster);
  // The tasks are long enough that the range of the link is only a part of the run.
  const square = delayed(function square(x: number) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    return x * x;
  });
  const wanted = square(30);
  await client.compute([...Array.from({ length: 30 }, (_, i) => square(i)), wanted]);
  const query = new URLSearchParams({ from: '0', to: '0.0005', task: wanted.key });
  const page = await openLive(`${cluster.dashboardLink ?? ''}#stream?${query}`);
  await page.locator('.details .key', { hasText: wanted.key }).waitFor();
  const { start, stop } = await viewOf(page);
  assert.ok(Math.abs(start) < 5e-6 && Math.abs(stop - 0.0005) < 5e-6, `${start} to ${stop}`);
  await page.context().close();
});

test('a link to a task of a running cluster waits for the rows of the task', async () => {
  await using cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
  await using client = await connect(cluster);
  const cube = delayed(function cube(x: number) {
    return x ** 3;
  });
  const wanted = cube(7);
  const page = await openLive(`${cluster.dashboardLink ?? ''}#stream?task=${encodeURIComponent(wanted.key)}`);
  await ready(page);
  await client.compute([...Array.from({ length: 5 }, (_, i) => cube(i)), wanted]);
  await page.locator('.details .key', { hasText: wanted.key }).waitFor();
  await page.context().close();
});

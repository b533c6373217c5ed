// Plots of the dashboard that are shown alone, as Dask's JupyterLab extension embeds them.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { individualPlotPaths } from '#internal/protocol/individualPlots.js';
import { ScriptedCluster } from '#internal/server/dashboard.test.support.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import { complaintsOf, useBrowser } from '../support/browser.js';
import { panel } from '../support/dashboardPage.js';

const browser = useBrowser();

async function started(frameAncestors: readonly string[] = []): Promise<DashboardServer> {
  const cluster = new ScriptedCluster({ seed: 3, sizes: [40, 20], workers: 2, batch: 5 });
  cluster.play();
  return DashboardServer.start({ source: cluster.source(), port: 0, frameAncestors });
}

const LIVE = 'main.page[data-status="live"]';

/** Returns the labels of all plots and panels of the page. */
const labels = (page: Page | Frame) =>
  page
    .locator('section.plot, section.panel')
    .evaluateAll((sections) => sections.map((section) => section.getAttribute('aria-label')));

test('an individual plot is shown alone, without the bar and the navigation', async () => {
  const server = await started();
  const { page } = await browser.open(browser.blank(), { viewport: { width: 480, height: 320 } });
  const complaints = complaintsOf(page);
  const show = async (name: string) => {
    await page.goto(`${server.link}individual-${name}`);
    await page.locator(LIVE).waitFor();
  };
  await show('progress');
  await page.locator(panel('Progress')).waitFor();
  assert.deepEqual(await labels(page), ['Progress']);
  await show('task-stream');
  await page.locator('section.plot canvas').waitFor();
  assert.deepEqual(await labels(page), ['Task stream']);
  await show('workers-memory-timeseries');
  await page.locator('section.plot canvas').waitFor();
  assert.deepEqual(await labels(page), ['Memory of all workers']);
  await show('gpu-memory');
  await page.getByText('The trace has no rows for this plot.').waitFor();
  assert.deepEqual(await labels(page), []);
  assert.equal(await page.locator('nav, header.bar').count(), 0);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the plot is ${overflow} px wider than its frame`);
  assert.deepEqual(complaints, []);
  await page.context().close();
  await server.close();
});

test('every listed plot shows a part of a page', async () => {
  const server = await started();
  const { page } = await browser.open(browser.blank());
  const complaints = complaintsOf(page);
  for (const path of Object.values(individualPlotPaths())) {
    await page.goto(`${server.link}${path.slice(1)}`);
    await page.locator(`${LIVE} :is(section, .filters)`).first().waitFor();
    assert.equal(await page.locator('nav, header.bar').count(), 0, path);
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
  await server.close();
});

test('an individual plot opens other pages in a new tab', async () => {
  const server = await started();
  const { page } = await browser.open(browser.blank());
  await page.goto(`${server.link}individual-graph`);
  const opened = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'in the task stream' }).click();
  const stream = await opened;
  await stream.locator('main.page[data-page="stream"] section.details[aria-label="Selected task"]').waitFor();
  assert.equal(await stream.locator('nav.pages').count(), 1);
  assert.equal(await page.locator('main.page[data-page="graph"]').count(), 1);
  await page.context().close();
  await server.close();
});

test('the tasks of more than 100 workers are shown as a histogram', async () => {
  const cluster = new ScriptedCluster({ seed: 3, sizes: [200], workers: 101, batch: 5 });
  cluster.play();
  const trace = cluster.trace.snapshot();
  const server = await DashboardServer.start({
    source: { kind: 'recorded', title: 'many workers', facts: {}, trace },
    port: 0,
  });
  const { page } = await browser.open(browser.blank());
  await page.goto(`${server.link}individual-nprocessing`);
  const shown = page.locator(panel('Tasks running'));
  await shown.getByText('the number of workers with these tasks, of 101 workers').waitFor();
  const counts = await shown.locator('.bars .number').allInnerTexts();
  assert.equal(
    counts.reduce((sum, count) => sum + Number(count), 0),
    101,
  );
  await page.context().close();
  await server.close();
});

test('a plot is shown in a frame of an allowed origin, and in no other frame', async () => {
  const framing = createServer((request, response) => {
    const src = new URL(request.url ?? '', 'http://localhost').searchParams.get('src') ?? '';
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><iframe src="${src}" width="600" height="400"></iframe>`);
  });
  await new Promise<void>((resolve) => framing.listen(0, '127.0.0.1', resolve));
  const address = framing.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const { page } = await browser.open(browser.blank());
  for (const [frameAncestors, isShown] of [
    [[origin], true],
    [[], false],
  ] as const) {
    const server = await started(frameAncestors);
    const src = `${server.link}individual-progress`;
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    refused.catch(() => undefined);
    await page.goto(`${origin}/?src=${encodeURIComponent(src)}`);
    if (isShown) await page.frameLocator('iframe').locator(panel('Progress')).waitFor();
    else await refused;
    assert.equal(
      page.frames().some((frame) => frame.url() === src || frame.url().startsWith(`${src}#`)),
      isShown,
    );
    await server.close();
  }
  await page.context().close();
  framing.close();
});

// The dashboard of a running cluster in a browser, and the same run as a report, from a server of `viewTrace` and from chosen
// files. Numbers on the pages are compared with the analyses of the traces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, delayed, LocalCluster, performanceReport } from 'longpole';
import { openTrace, viewTrace } from 'longpole/trace';
import type { Page } from 'playwright-core';
import { profileTree } from '#internal/analysis/profile.js';
import { timeByPrefix } from '#internal/analysis/timeTables.js';
import { formatCount, formatDuration, formatPercent } from '#internal/dashboard/model/format.js';
import type { Trace } from '#internal/trace/trace.js';
import { complaintsOf, useBrowser } from '../support/browser.js';
import { comes, everyPage, go, panel, plain, said, whole } from '../support/dashboardPage.js';

const browser = useBrowser();

const square = delayed(function square(x: number) {
  return x * x;
});
const add = delayed(function add(xs: number[]) {
  return xs.reduce((sum, x) => sum + x, 0);
});
/** A task that is long enough for the profiler. */
const spin = delayed(function spin(ms: number) {
  function inner(until: number): number {
    let rounds = 0;
    while (performance.now() < until) rounds++;
    return rounds;
  }
  return inner(performance.now() + ms);
});

function explode(): void {
  throw new RangeError('</script><b>the test wants it so</b>');
}

/** Opens an empty tab. `arrive` loads the page of a server there. */
async function openLink(link: string, hash = '') {
  const { page } = await browser.open(browser.blank());
  return { page, complaints: complaintsOf(page), arrive: () => page.goto(`${link}${hash}`) };
}

/** Returns the text content of an element, without spaces between its parts. */
const contentOf = async (page: Page, selector: string) =>
  plain((await page.locator(selector).first().allTextContents()).join());

/** Waits for a text within an element. */
const untilText = (page: Page, selector: string, text: string) => untilTexts(page, selector, () => [text]);

/** Waits until an element contains all expected texts, which may change meanwhile. */
async function untilTexts(page: Page, selector: string, texts: () => readonly string[]): Promise<void> {
  let last = '';
  await comes(
    page,
    () => `${selector} does not come to say "${texts().join('", "')}", but ${last}`,
    async () => {
      last = await contentOf(page, selector);
      return texts().every((text) => last.includes(plain(text)));
    },
  );
}

/**
 * Checks that the pages show the results of the analyses. The trace of a running cluster is read again for every check,
 * because the profiler reports its last cycle some time after the last task.
 */
async function sameNumbers(page: Page, traceNow: () => Trace): Promise<void> {
  await go(page, 'summary');
  await untilTexts(page, panel('The run'), () => {
    // A task that failed and was repeated counts once.
    return [`Tasks${formatCount(new Set(traceNow().tasks.id).size)}`];
  });
  await go(page, 'compute');
  await untilTexts(page, panel('By prefix'), () =>
    timeByPrefix(traceNow()).rows.map((row) => {
      const [seconds, share] = [Number(row['Duration (s)']), Number(row['Share (%)'])];
      return `${row['Prefix']}${formatDuration(seconds)}${formatPercent(share)}${formatCount(Number(row['Tasks']))}`;
    }),
  );
  await go(page, 'profile');
  assert.ok(profileTree(traceNow()).count > 0);
  const functions = 'section.functions';
  await untilTexts(page, functions, () => [`${formatCount(profileTree(traceNow()).count)} samples`]);
  await page.getByLabel('Task name').selectOption('spin');
  await untilTexts(page, functions, () => {
    const { count, children } = profileTree(traceNow(), { key: 'spin' });
    const names = Object.values(children).map(({ description }) => description.name);
    return [`${formatCount(count)} samples`, ...names];
  });
  await page.getByLabel('Task name').selectOption('');
}

test('live pages, a report, a server and chosen files show the same numbers of a run', async () => {
  await using cluster = await LocalCluster.start({
    workers: 2,
    dashboard: { port: 0 },
    profile: { interval: 0.005, cycleInterval: 0.1 },
  });
  await using client = await connect(cluster);
  const directory = browser.path('run.trace');
  const stop = client.record(directory);
  const { page, complaints, arrive } = await openLink(cluster.dashboardLink ?? '', '#status');
  await arrive();
  await page.locator('main.page[data-status="live"]').waitFor();
  const file = browser.path('cluster.html');
  await performanceReport({ filename: file, client }, async () => {
    const squares = Array.from({ length: 200 }, (_, i) => square(i));
    assert.equal(await client.compute(add(squares)), 2_646_700);
    await untilText(page, panel('Progress'), '200 / 200');
    // The profiler of an isolate begins when the isolate is busy.
    for (let ms = 200; (await client.profile({ key: 'spin' })).count < 20; ms++)
      await client.compute(spin(ms));
    await assert.rejects(client.submit(explode, { retries: 1 }).result());
  });
  await stop();
  await untilText(page, panel('Progress'), '0 / 1, 1 erred');
  const names = await everyPage(page);
  await sameNumbers(page, () => client.trace);
  assert.deepEqual(complaints, []);

  const report = await browser.open(file);
  await whole(report.page);
  assert.deepEqual(await everyPage(report.page), names);
  const reported = openTrace(file);
  await sameNumbers(report.page, () => reported);
  await go(report.page, 'summary');
  await said(report.page, panel('About the run'), /Longpole[\s\S]*Called from/);
  assert.deepEqual(report.complaints, []);
  await report.page.context().close();

  const trace = openTrace(directory);
  const server = await viewTrace(trace, { port: 0 });
  const view = await openLink(server.link);
  await view.arrive();
  await whole(view.page);
  assert.deepEqual(await everyPage(view.page), names);
  await sameNumbers(view.page, () => trace);
  assert.deepEqual(view.complaints, []);
  await view.page.context().close();
  await server.close();

  const template = await browser.open(browser.template());
  await template.page.locator('input[type=file]').last().setInputFiles(directory);
  await whole(template.page);
  await sameNumbers(template.page, () => trace);
  assert.deepEqual(template.complaints, []);
  await template.page.context().close();

  await client.close();
  await cluster.close();
  await untilText(page, '.banner', 'The run is over');
  await page.context().close();
});

test('a page shows that its connection is lost, and receives the missing rows when it is connected again', async () => {
  await using cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
  await using client = await connect(cluster);
  const { page, arrive } = await openLink(cluster.dashboardLink ?? '', '#status');
  let cut = (): void => undefined;
  let connected = Promise.resolve();
  await page.routeWebSocket(/\/api\/live/, async (socket) => {
    await connected;
    const server = socket.connectToServer();
    cut = () => {
      void socket.close({ code: 1011 });
      void server.close();
    };
  });
  await arrive();
  await client.compute(Array.from({ length: 10 }, (_, i) => square(i)));
  await untilText(page, panel('Progress'), '10 / 10');
  // The connection returns after the test has seen the banner.
  let comeBack = (): void => undefined;
  connected = new Promise((resolve) => {
    comeBack = resolve;
  });
  cut();
  await said(page, '.banner.lost', /connection to the scheduler is lost/);
  await client.compute(Array.from({ length: 15 }, (_, i) => square(100 + i)));
  comeBack();
  await page.locator('main.page[data-status="live"]').waitFor();
  await untilText(page, panel('Progress'), '15 / 15');
  await go(page, 'compute');
  await untilText(page, panel('By prefix'), '100 %25');
  await comes(
    page,
    () => 'the banner stays',
    async () => (await page.locator('.banner').count()) === 0,
  );
  await page.context().close();
});

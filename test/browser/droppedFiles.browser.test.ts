// Files that are dropped on a page from disk, through events of the mouse, and files that are chosen by keyboard.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { connect, delayed, LocalCluster, performanceReport } from 'longpole';
import { exportTrace, openTrace } from 'longpole/trace';
import type { FileChooser, Page } from 'playwright-core';
import { useBrowser } from '../support/browser.js';
import { comes, go, panel, ready, said, tabTo, viewOf, whole } from '../support/dashboardPage.js';

const browser = useBrowser();

async function drop(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 500, y: 400, data });
}

test('a report, a trace directory and a Chrome trace open when they are dropped one after the other', async () => {
  await using cluster = await LocalCluster.start({ workers: 1 });
  await using client = await connect(cluster);
  const square = delayed(function square(x: number) {
    return x * x;
  });
  const directory = browser.path('nightly.trace');
  const report = browser.path('dropped.html');
  const stop = client.record(directory);
  await performanceReport({ filename: report, client }, async () => {
    await client.compute(Array.from({ length: 40 }, (_, i) => square(i)));
  });
  await stop();
  const chrome = browser.path('dropped.json');
  exportTrace(openTrace(directory), { to: 'chrome', output: chrome });
  // In a Chrome trace every slice is read as a task, also garbage collections and starts of the profiler.
  const slices = openTrace(chrome).tasks.length;
  assert.ok(slices >= 40);
  const { page, complaints } = await browser.open(browser.template());
  await ready(page);
  for (const [path, title, tasks] of [
    [report, /Performance report/, 40],
    [directory, /nightly\.trace/, 40],
    [chrome, /dropped\.json/, slices],
  ] as const) {
    await drop(page, path);
    await said(page, '.bar h1', title);
    await whole(page);
    assert.equal(await page.locator('.search input').inputValue(), '');
    await go(page, 'summary');
    await said(page, panel('The run'), new RegExp(`Tasks\\s+${tasks}\\b`));
    // The time range and the search of one run are not applied to the next run.
    const { start, stop } = await viewOf(page);
    assert.ok(start <= 0, `the window begins ${start} s after the first task`);
    await page.evaluate(
      ([from = 0, to = 0]) => globalThis.longpoleDashboard?.show(from, to),
      [stop / 3, stop / 2],
    );
    await page.locator('.search input').fill('square');
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a dropped file that is not a trace is refused with a message', async () => {
  const path = browser.path('notes.txt');
  writeFileSync(path, 'nothing of the kind');
  const { page } = await browser.open(browser.template());
  await ready(page);
  await drop(page, path);
  await said(page, '.problem', /notes\.txt is not a trace/);
  await page.context().close();
});

test('compressed files that would unpack to gigabytes are refused with a message, and the page still works', async () => {
  const bomb = Buffer.alloc(130 * 2 ** 20, ' ');
  const gzip = browser.path('bomb.json.gz');
  writeFileSync(gzip, gzipSync(bomb));
  const report = browser.path('bomb.html');
  const data = deflateSync(bomb).toString('base64');
  writeFileSync(
    report,
    readFileSync(browser.template(), 'utf8').replace(/(id="longpole-trace"[^>]*>)[^<]*/, `$1${data}`),
  );
  const { page } = await browser.open(report);
  await said(page, '.problem', /The data of the page was not read further: .* more than 134,217,728 bytes/);
  await drop(page, gzip);
  await said(page, '.problem', /bomb\.json\.gz was not read further/);
  await page.context().close();
});

test('the file input can be reached by keyboard and has a visible focus', async () => {
  const { page } = await browser.open(browser.template());
  // The listener must exist before the key is pressed, because Chromium otherwise opens its own dialog.
  const choosers: FileChooser[] = [];
  page.on('filechooser', (chooser) => choosers.push(chooser));
  await ready(page);
  await tabTo(page, '.choice input');
  const outline = await page
    .locator('.choice')
    .first()
    .evaluate((label) => getComputedStyle(label).outlineStyle);
  assert.equal(outline, 'solid');
  await page.keyboard.press('Enter');
  await comes(
    page,
    () => 'no choice of a file comes',
    async () => choosers.length > 0,
  );
  assert.equal(choosers[0]?.isMultiple(), false);
  await page.context().close();
});

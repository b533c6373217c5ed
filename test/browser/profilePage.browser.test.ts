// The page of `visualize` in a browser, opened from disk.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { visibleName } from '#internal/base/visibleText.js';
import { useBrowser } from '../support/browser.js';
import { comes, said, viewOf, whole } from '../support/dashboardPage.js';
import { idle, pixelOf, placeOf, rectanglesOf, spanOf } from '../support/profilePage.js';
import {
  hostilePage,
  largePage,
  type SamplePage,
  samplePage,
  tsqrPage,
  writeSample,
} from '../support/samplePages.js';

const browser = useBrowser();

async function openPage(data: SamplePage, options: Parameters<typeof browser.open>[1] = {}) {
  const path = writeSample(data, browser.path(`${Math.random().toString(36).slice(2)}.html`));
  const opened = await browser.open(path, options);
  await whole(opened.page);
  return opened;
}

test('the page opens from disk, draws a rectangle per task, and sends no requests', async () => {
  const data = tsqrPage();
  const { page, complaints } = await openPage(data);
  assert.ok((await rectanglesOf(page)) >= 200, `${await rectanglesOf(page)} rectangles`);
  assert.equal(await page.title(), 'Run over time – tsqr.ts – Longpole');
  await said(page, '.bar', /243 tasks.*4 workers.*12\.6\ss/s);
  assert.deepEqual(await page.locator('.plot h2').allInnerTexts(), [
    'Task stream',
    'CPU and memory',
    'Results in the cache',
  ]);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('hovering shows the key, task, worker and times, and a click keeps them visible', async () => {
  const data = tsqrPage();
  const { page, complaints } = await openPage(data);
  const entry = 45;
  const at = await placeOf(page, data, entry);
  await page.mouse.move(at.x, at.y);
  const tip = await said(page, '.tooltip', /tsqr.*Worker\s*threads-\d.*Start\s*[\d.]+\ss.*Stop\s*[\d.]+\ss/s);
  assert.ok(tip.includes(data.runs[entry]!.key), tip);
  assert.ok(tip.includes(data.runs[entry]!.text), tip);
  await page.mouse.click(at.x, at.y);
  await page.mouse.move(5, 5);
  const details = await said(page, '.details', /Duration.*In cache.*16\sMB/s);
  assert.ok(details.includes(data.runs[entry]!.key), details);
  await page.keyboard.press('Escape');
  await said(page, '.details', /Click a task/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

/** Returns the position at which the time axis begins, in px from the left of the window. */
async function leftOf(page: Page): Promise<number> {
  return (await page.locator('.drawing').first().boundingBox())!.x + (await viewOf(page)).left;
}

test('zooming keeps the time under the pointer and the common axis of all plots', async () => {
  const { page, complaints } = await openPage(tsqrPage());
  const before = await viewOf(page);
  const x = (await leftOf(page)) + 400;
  const timeAt = (view: typeof before) => view.start + (400 / view.columns) * (view.stop - view.start);
  await page.mouse.move(x, 300);
  await page.mouse.wheel(0, -400);
  // The call for the wheel returns before the page has handled the event.
  await comes(
    page,
    () => 'it does not zoom',
    async () => (await spanOf(page)) < (before.stop - before.start) / 2,
  );
  await idle(page);
  const after = await viewOf(page);
  assert.ok(Math.abs(timeAt(after) - timeAt(before)) < (after.stop - after.start) / 500);
  // The vertical lines of the ticks are at the same x positions in every plot.
  const lines = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLCanvasElement>('.drawing canvas')].slice(1).map((canvas) => {
      const row = canvas.getContext('2d')!.getImageData(104, 2, canvas.width - 180, 1).data;
      return Array.from({ length: row.length / 4 }, (_, i) => i).filter((i) => row[i * 4 + 3]! > 0);
    }),
  );
  assert.ok(lines[0]!.length >= 3, 'ticks');
  assert.deepEqual(lines[0], lines[1]);
  await page.keyboard.press('0');
  await idle(page);
  const reset = await viewOf(page);
  assert.deepEqual([reset.start, reset.stop], [before.start, before.stop]);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('dragging and keys pan, shift-dragging zooms to a range, and a double click shows the whole run', async () => {
  const { page } = await openPage(tsqrPage());
  const all = await viewOf(page);
  const left = await leftOf(page);
  await page.keyboard.down('Shift');
  await page.mouse.move(left + 200, 300);
  await page.mouse.down();
  await page.mouse.move(left + 400, 300, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await idle(page);
  const selected = await viewOf(page);
  const perPixel = (all.stop - all.start) / all.columns;
  assert.ok(Math.abs(selected.stop - selected.start - 200 * perPixel) < 2 * perPixel);
  await page.mouse.move(left + 300, 300);
  await page.mouse.down();
  await page.mouse.move(left + 400, 300, { steps: 4 });
  await page.mouse.up();
  await idle(page);
  const dragged = await viewOf(page);
  const moved = ((selected.start - dragged.start) / (selected.stop - selected.start)) * all.columns;
  assert.ok(Math.abs(moved - 100) < 2, `${moved} px`);
  await page.keyboard.press('d');
  await idle(page);
  assert.ok((await viewOf(page)).start > dragged.start);
  await page.keyboard.press('w');
  await idle(page);
  const closer = await viewOf(page);
  assert.ok(closer.stop - closer.start < dragged.stop - dragged.start);
  await page.mouse.dblclick(left + 300, 300);
  await idle(page);
  assert.equal((await viewOf(page)).start, all.start);
  await page.context().close();
});

test('the search finds keys, counts them, and steps through them', async () => {
  const data = tsqrPage();
  const { page } = await openPage(data);
  await page.keyboard.press('/');
  await page.keyboard.type('QR_ST2');
  await said(page, '.found', /^1 found$/);
  await page.keyboard.press('Enter');
  await idle(page);
  await said(page, '.found', /^1 of 1$/);
  await said(page, '.details', /QR_st2/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('no such key');
  await said(page, '.found', /^0 found$/);
  await page.context().close();
});

test('a prefix has one colour in the legend, the stream and the cache, in light and dark colours', async () => {
  const data = tsqrPage();
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await openPage(data, { colorScheme });
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(ground, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 28)');
    const swatch = await page
      .locator('.entry', { hasText: 'tsqr' })
      .locator('.swatch')
      .evaluate((element) => getComputedStyle(element).backgroundColor.match(/\d+/g)!.join());
    const at = await placeOf(page, data, 45);
    const box = (await page.locator('.drawing').first().boundingBox())!;
    // The pixel is above the label of the rectangle.
    assert.equal(await pixelOf(page, 0, at.x - box.x, at.y - box.y - 15), `${swatch},255`);
    const inCache = await page.evaluate((color) => {
      const canvas = document.querySelectorAll<HTMLCanvasElement>('.drawing canvas')[2]!;
      const { data: pixels } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < pixels.length; i += 4) if (`${pixels.slice(i, i + 3).join()}` === color) count++;
      return count;
    }, swatch);
    assert.ok(inCache > 50, `${inCache} pixels of the line`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  }
});

test('the legend counts tasks, and a click on a prefix dims the others', async () => {
  const data = tsqrPage();
  const { page } = await openPage(data);
  const row = page.locator('.entry', { hasText: 'random_sample' });
  assert.match((await row.allInnerTexts()).join(), /random_sample\s+40\s+6\.\d+\ss/);
  const at = await placeOf(page, data, 45);
  const box = (await page.locator('.drawing').first().boundingBox())!;
  const color = () => pixelOf(page, 0, at.x - box.x, at.y - box.y - 15);
  const before = await color();
  await row.click();
  await page.mouse.move(5, 5);
  await page.locator('.entry[aria-pressed="true"]', { hasText: 'random_sample' }).waitFor();
  await comes(
    page,
    () => 'the colour stays',
    async () => (await color()) !== before,
  );
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.mouse.move(5, 5);
  await comes(
    page,
    () => 'the colour does not come back',
    async () => (await color()) === before,
  );
  await page.context().close();
});

test('names that look like HTML stay text', async () => {
  const data = hostilePage();
  const { page, complaints } = await openPage(data);
  assert.ok((await page.title()).includes(visibleName(data.title).replace(/\s+/g, ' ')));
  for (let entry = 0; entry < 5; entry++) {
    const at = await placeOf(page, data, entry);
    const shown = async () => (await page.locator('.details').allInnerTexts()).join();
    const key = visibleName(data.runs[entry]!.key);
    // Rows are ordered by name, so the test searches for the row of this worker.
    for (let row = 0; row < 5; row++) {
      const box = (await page.locator('.drawing').first().boundingBox())!;
      await page.mouse.click(at.x, box.y + ((row + 0.5) * box.height) / 5);
      await idle(page);
      if ((await shown()).includes(key)) break;
    }
    assert.ok((await shown()).includes(key));
  }
  await page.mouse.move(600, 600);
  const harm = await page.evaluate(() => [
    globalThis.harmed,
    document.querySelectorAll('img, #app script, svg[onload]').length,
  ]);
  assert.deepEqual(harm, [undefined, 0]);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a frame of 100,000 tasks draws far fewer rectangles than tasks at every pan and zoom', async () => {
  const { page, complaints } = await openPage(largePage(100_000));
  const left = await leftOf(page);
  const drawsLittle = async (what: string, gesture: () => Promise<void>) => {
    const before = await viewOf(page);
    await gesture();
    await comes(
      page,
      () => `${what} does not move the view`,
      async () => (await viewOf(page)).start !== before.start,
    );
    await idle(page);
    const rectangles = await rectanglesOf(page);
    assert.ok(rectangles > 100 && rectangles < 30_000, `${what}: ${rectangles} rectangles`);
  };
  const drag = async () => {
    await page.mouse.move(left + 700, 250);
    await page.mouse.down();
    await page.mouse.move(left + 100, 250, { steps: 20 });
    await page.mouse.up();
  };
  await page.evaluate(() => globalThis.longpoleDashboard?.show(5, 25));
  await idle(page);
  await drawsLittle('pan, dense', drag);
  await drawsLittle('zoom', async () => {
    for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -100);
  });
  await drawsLittle('pan, single tasks', drag);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a page with damaged data, without profilers or without records shows a message', async () => {
  const cutOff = browser.path('damaged.html');
  const html = readFileSync(writeSample(tsqrPage(), cutOff), 'utf8');
  writeFileSync(cutOff, html.replace(/(octet-stream">.{400}).*?</, '$1<'));
  const damaged = await browser.open(cutOff);
  await said(damaged.page, '.problem', /damaged.*ERR_LONGPOLE_PAGE_DATA/s);
  await damaged.page.context().close();
  const { page } = await openPage({ ...tsqrPage(), plots: [] });
  await said(page, '.nothing', /at least one profiler/);
  await page.context().close();
  const idleRun = await openPage(
    samplePage({ title: 'idle', workers: [], runs: [], plots: ['tasks', 'resources', 'cache count'] }),
  );
  const hints = await idleRun.page.locator('.empty').allInnerTexts();
  assert.match(hints.join('\n'), /using prof = new Profiler\(\).*\n.*dt: 0\.1.*\n.*CacheProfiler/);
  await idleRun.page.context().close();
});

test('the page fits a width of 1024 px and high pixel densities, and its controls have names', async () => {
  const { page } = await openPage(tsqrPage(), {
    viewport: { width: 1024, height: 768 },
    deviceScaleFactor: 2,
  });
  const widths = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('.drawing canvas')!;
    return [document.documentElement.scrollWidth, canvas.width / canvas.clientWidth];
  });
  assert.deepEqual(widths, [1024, 2]);
  const nameless = await page.evaluate(
    () =>
      [...document.querySelectorAll('button, input, canvas')].filter(
        (element) => !(element.getAttribute('aria-label') ?? element.textContent ?? '').trim(),
      ).length,
  );
  assert.equal(nameless, 0);
  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'hidden' });
  await page.context().close();
});

test('the page of a MemorySampler shows a line and a table row per label', async () => {
  const { page, complaints } = await openPage(
    samplePage({
      title: 'Memory over time',
      workers: [],
      runs: [],
      memory: [
        {
          label: 'one <b>by</b> one',
          points: [
            { time: 0, bytes: 1e8 },
            { time: 0.5, bytes: 3e8 },
            { time: 1, bytes: 2e8 },
          ],
        },
        {
          label: 'all at once',
          points: [
            { time: 0, bytes: 8e8 },
            { time: 0.5, bytes: 6e8 },
          ],
        },
      ],
      plots: ['memory'],
    }),
  );
  await said(page, '.plot-heading', /Memory[\s\S]*one <b>by<\/b> one\s*300.MB[\s\S]*800.MB/);
  const rows = await page.locator('.samples tbody tr').allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.replaceAll('\u00a0', ' ').split(/\s*\t\s*/)),
    [
      ['one <b>by</b> one', '300 MB', '200 MB', '1.00 s'],
      ['all at once', '800 MB', '700 MB', '500 ms'],
    ],
  );
  assert.deepEqual(complaints, []);
  await page.context().close();
});

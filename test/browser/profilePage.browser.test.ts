// The page of `visualize` in a real browser, opened from disk.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { renderProfilePage, writeProfilePage } from '#internal/diagnostics/visualizePage.js';
import type { ProfilePage } from '#internal/protocol/profilePage.js';
import { useBrowser } from '../support/browser.js';
import { hostilePage, largePage, tsqrPage } from '../support/samplePages.js';

const browser = useBrowser();

interface View {
  readonly start: number;
  readonly stop: number;
  readonly left: number;
  readonly columns: number;
}

interface Hooks {
  idle(): Promise<void>;
  frameTimes(): number[];
  rectangles(): number;
  view(): View;
  show(start: number, stop: number): void;
}

declare global {
  var longpole: Hooks | undefined;
  var harmed: unknown;
}

const ready = async (page: Page) => {
  await page.waitForFunction(() => globalThis.longpole !== undefined);
  await idle(page);
};
const idle = (page: Page) => page.evaluate(() => globalThis.longpole?.idle());
const viewOf = (page: Page) => page.evaluate(() => globalThis.longpole!.view());
const rectanglesOf = (page: Page) => page.evaluate(() => globalThis.longpole!.rectangles());
/** Text as it is shown. */
const textOf = async (page: Page, selector: string) => (await page.locator(selector).allInnerTexts()).join();

async function openPage(data: ProfilePage, options: Parameters<typeof browser.open>[1] = {}) {
  const path = writeProfilePage(data, browser.path(`${Math.random().toString(36).slice(2)}.html`));
  const opened = await browser.open(path, options);
  await ready(opened.page);
  return opened;
}

/** Colour of a pixel of a canvas, CSS px from its top left corner. */
const pixelOf = (page: Page, canvas: number, x: number, y: number) =>
  page.evaluate(
    ([index, px, py]) => {
      const element = document.querySelectorAll<HTMLCanvasElement>('.drawing canvas')[index!]!;
      const ratio = element.width / element.clientWidth;
      const data = element.getContext('2d')!.getImageData(px! * ratio, py! * ratio, 1, 1).data;
      return [...data].join();
    },
    [canvas, x, y],
  );

/** Where a run of the first section is on the screen. */
async function placeOf(page: Page, data: ProfilePage, entry: number) {
  const section = data.sections[0]!;
  assert.ok(section.type === 'tasks');
  const view = await viewOf(page);
  const origin = Math.min(...section.start);
  const middle = (section.start[entry]! + section.stop[entry]!) / 2 - origin;
  const box = (await page.locator('.drawing').first().boundingBox())!;
  const rows = data.workers.length;
  return {
    x: box.x + view.left + ((middle - view.start) / (view.stop - view.start)) * view.columns,
    y: box.y + ((section.worker[entry]! + 0.5) * box.height) / rows,
  };
}

test('opens from disk, draws a rectangle per task, and asks nothing of the network', async () => {
  const data = tsqrPage();
  const { page, complaints } = await openPage(data);
  assert.ok((await rectanglesOf(page)) >= 200, `${await rectanglesOf(page)} rectangles`);
  assert.equal(await page.title(), 'tsqr.ts');
  assert.match(await textOf(page, '.bar'), /243 tasks.*4 workers.*12\.6\ss/s);
  assert.deepEqual(await page.locator('.plot h2').allInnerTexts(), [
    'Task stream',
    'CPU and memory',
    'Results in the cache',
  ]);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('hover shows key, task, worker and times; a click keeps them', async () => {
  const data = tsqrPage();
  const { page, complaints } = await openPage(data);
  const entry = 45;
  const at = await placeOf(page, data, entry);
  await page.mouse.move(at.x, at.y);
  const tip = await textOf(page, '.tooltip');
  assert.ok(tip.includes(data.tasks.keys.at(entry)!), tip);
  assert.ok(tip.includes(data.tasks.texts.at(entry)!), tip);
  assert.match(tip, /tsqr.*Worker\s*threads-\d.*Start\s*[\d.]+\ss.*Stop\s*[\d.]+\ss/s);
  await page.mouse.click(at.x, at.y);
  await page.mouse.move(5, 5);
  const details = await textOf(page, '.details');
  assert.ok(details.includes(data.tasks.keys.at(entry)!), details);
  assert.match(details, /Duration.*In cache.*16\sMB/s);
  await page.keyboard.press('Escape');
  assert.match(await textOf(page, '.details'), /Click a task/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('zoom keeps the time under the pointer, and all plots on one axis', async () => {
  const { page, complaints } = await openPage(tsqrPage());
  const before = await viewOf(page);
  const x = before.left + 400;
  const timeAt = (view: View) => view.start + (400 / view.columns) * (view.stop - view.start);
  await page.mouse.move(x, 300);
  await page.mouse.wheel(0, -400);
  await idle(page);
  const after = await viewOf(page);
  assert.ok(after.stop - after.start < (before.stop - before.start) / 2);
  assert.ok(Math.abs(timeAt(after) - timeAt(before)) < (after.stop - after.start) / 500);
  // The vertical line of a tick is at the same x in every plot, and nowhere near it is another.
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

test('drag and keys pan, shift-drag zooms to a range, double click shows the whole run', async () => {
  const { page } = await openPage(tsqrPage());
  const whole = await viewOf(page);
  await page.keyboard.down('Shift');
  await page.mouse.move(300, 300);
  await page.mouse.down();
  await page.mouse.move(500, 300, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await idle(page);
  const selected = await viewOf(page);
  const perPixel = (whole.stop - whole.start) / whole.columns;
  assert.ok(Math.abs(selected.stop - selected.start - 200 * perPixel) < 2 * perPixel);
  await page.mouse.move(400, 300);
  await page.mouse.down();
  await page.mouse.move(500, 300, { steps: 4 });
  await page.mouse.up();
  await idle(page);
  const dragged = await viewOf(page);
  const moved = ((selected.start - dragged.start) / (selected.stop - selected.start)) * whole.columns;
  assert.ok(Math.abs(moved - 100) < 2, `${moved} px`);
  await page.keyboard.press('d');
  await idle(page);
  assert.ok((await viewOf(page)).start > dragged.start);
  await page.keyboard.press('w');
  await idle(page);
  const closer = await viewOf(page);
  assert.ok(closer.stop - closer.start < dragged.stop - dragged.start);
  await page.mouse.dblclick(400, 300);
  await idle(page);
  assert.equal((await viewOf(page)).start, whole.start);
  await page.context().close();
});

test('search finds keys, counts them, and steps through them', async () => {
  const data = tsqrPage();
  const { page } = await openPage(data);
  await page.keyboard.press('/');
  await page.keyboard.type('QR_ST2');
  assert.equal(await textOf(page, '.found'), '1 found');
  await page.keyboard.press('Enter');
  await idle(page);
  assert.equal(await textOf(page, '.found'), '1 of 1');
  assert.match(await textOf(page, '.details'), /QR_st2/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('no such key');
  assert.equal(await textOf(page, '.found'), '0 found');
  await page.context().close();
});

test('a prefix has one colour in legend, stream and cache, in light and in dark', async () => {
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
    // Above the label of the rectangle.
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

test('the legend counts, and a click on it dims every other prefix', async () => {
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
  await idle(page);
  assert.equal(await row.getAttribute('aria-pressed'), 'true');
  assert.notEqual(await color(), before);
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.mouse.move(5, 5);
  await idle(page);
  assert.equal(await color(), before);
  await page.context().close();
});

test('names that look like HTML stay text', async () => {
  const data = hostilePage();
  const { page, complaints } = await openPage(data);
  assert.equal(await page.title(), data.title.replace(/\s+/g, ' '));
  for (let entry = 0; entry < 5; entry++) {
    const at = await placeOf(page, { ...data, workers: data.workers }, entry);
    // Rows are ordered by name: find the one of this worker.
    for (let row = 0; row < 5; row++) {
      const box = (await page.locator('.drawing').first().boundingBox())!;
      await page.mouse.click(at.x, box.y + ((row + 0.5) * box.height) / 5);
      if ((await textOf(page, '.details')).includes(data.tasks.keys.at(entry)!)) break;
    }
    assert.ok((await textOf(page, '.details')).includes(data.tasks.keys.at(entry)!));
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

test('100,000 tasks open in less than 2 s and pan smoothly', async () => {
  const path = writeProfilePage(largePage(100_000), browser.path('large.html'));
  const measured = async () => {
    const before = performance.now();
    const open = await browser.open(path);
    await ready(open.page);
    return { ...open, opened: performance.now() - before };
  };
  let { page, complaints, opened } = await measured();
  // Another process may hold the cores for a moment: the page is not slow because of that.
  for (let attempt = 1; attempt < 3 && opened >= 2000; attempt++) {
    await page.context().close();
    ({ page, complaints, opened } = await measured());
  }
  assert.ok(opened < 2000, `opened in ${opened.toFixed(0)} ms`);
  const medianOf = async (name: string, gesture: () => Promise<void>) => {
    await page.evaluate(() => globalThis.longpole!.frameTimes());
    await gesture();
    await idle(page);
    const times = await page.evaluate(() => globalThis.longpole!.frameTimes());
    times.sort((a, b) => a - b);
    const median = times[times.length >> 1]!;
    console.log(
      `${name}: ${times.length} frames, median ${median.toFixed(1)} ms, worst ${times.at(-1)!.toFixed(1)} ms`,
    );
    assert.ok(median < 50, `${name}: median frame ${median} ms`);
  };
  console.log(
    `100,000 tasks, ${(readFileSync(path).length / 1e6).toFixed(1)} MB: open ${opened.toFixed(0)} ms`,
  );
  const drag = async () => {
    await page.mouse.move(900, 250);
    await page.mouse.down();
    await page.mouse.move(300, 250, { steps: 60 });
    await page.mouse.up();
  };
  await page.evaluate(() => globalThis.longpole!.show(5, 25));
  await idle(page);
  await medianOf('pan, dense', drag);
  await medianOf('zoom', async () => {
    for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -100);
  });
  await medianOf('pan, single tasks', drag);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('damaged data and a page without profilers say so', async () => {
  const html = renderProfilePage(tsqrPage());
  const cutOff = browser.path('damaged.html');
  writeFileSync(cutOff, html.replace(/(octet-stream">.{400}).*?</, '$1<'));
  const damaged = await browser.open(cutOff);
  await damaged.page.waitForSelector('.problem');
  assert.match(await textOf(damaged.page, '.problem'), /damaged.*ERR_LONGPOLE_PAGE_DATA/s);
  await damaged.page.context().close();
  const empty = { ...tsqrPage(), sections: [] };
  const { page } = await openPage(empty);
  assert.match(await textOf(page, '.nothing'), /at least one profiler/);
  await page.context().close();
  const none = new Float64Array(0);
  const idleRun = await openPage({
    ...tsqrPage(),
    sections: [{ type: 'resources', time: none, mem: none, cpu: none }],
  });
  assert.match(await textOf(idleRun.page, '.empty'), /dt: 0\.1/);
  await idleRun.page.context().close();
});

test('fits 1024 px and twice the device pixels, controls have names', async () => {
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
  assert.ok(await page.locator('dialog[open]').isVisible());
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'hidden' });
  await page.context().close();
});

// The page of a diff in a browser: the flame graph of both sides, by pointer and by keyboard, in light and dark colours.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { diff } from '#internal/analysis/diff/diff.js';
import { writeDiffPage } from '#internal/diagnostics/diffPage.js';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { useBrowser } from '../support/browser.js';
import { said } from '../support/dashboardPage.js';

const browser = useBrowser();

/** Returns a trace in which `load` calls `read` for 0.5 s and `parse` for the given hundredths of a second. */
const run = (parse: number, isSampled = true) =>
  syntheticTrace({
    tasks: [{ key: 'load-1', started: 0, stopped: 1 + parse / 100 }],
    samples: isSampled
      ? [
          { time: 0.1, prefix: 'load', stack: ['load', 'read'], count: 50 },
          { time: 0.5, prefix: 'load', stack: ['load', 'parse'], count: parse },
        ]
      : [],
  });

/** The flame graph, which is drawn in its final width when the page accepts keys. */
const FLAME = 'section[aria-label="Call stacks"] canvas';
const LINE = '.flame-line';

/** Returns red, green and blue of a row of the flame graph at a share of its width. */
async function colorAt(page: Page, row: number, share: number): Promise<readonly number[]> {
  const place = [row, share] as const;
  return await page.locator(FLAME).evaluate((element, [depth, part]) => {
    if (!(element instanceof HTMLCanvasElement)) return [];
    const scale = element.width / element.clientWidth;
    const x = Math.round(part * element.width);
    const pixel = element.getContext('2d')?.getImageData(x, (depth * 20 + 3) * scale, 1, 1).data;
    return Array.from(pixel ?? []).slice(0, 3);
  }, place);
}

describe('the page of a diff', () => {
  let slower = '';
  before(() => {
    slower = writeDiffPage(diff(run(20), run(80), { failOver: 0.05 }), browser.path('slower.html'), {
      before: 'main',
      after: 'branch',
    });
  });

  it('is sharp also after the window has moved to a screen with smaller pixels', async () => {
    const { page } = await browser.open(slower);
    await page.locator(FLAME).waitFor();
    const { width = 0, height = 0 } = page.viewportSize() ?? {};
    const devtools = await page.context().newCDPSession(page);
    // Without a change of the size, Chromium does not evaluate media queries again.
    const screen = { width, height: height + 1, deviceScaleFactor: 2, mobile: false };
    await devtools.send('Emulation.setDeviceMetricsOverride', screen);
    await page.waitForFunction((flame) => {
      const canvas = document.querySelector<HTMLCanvasElement>(flame);
      return canvas?.width === 2 * (canvas?.clientWidth ?? 0);
    }, FLAME);
    await page.context().close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`draws slower functions orange, faster ones blue and others grey in ${colorScheme} colours`, async () => {
      const { page, complaints } = await browser.open(slower, { colorScheme });
      await page.locator(FLAME).waitFor();
      await said(page, 'header', /What changed\s+from main to branch/);
      await said(page, '.diff-reason', /Slower than allowed/);
      // The widest function, `parse`, is the first.
      const [red = 0, , blue = 0] = await colorAt(page, 2, 0.3);
      assert.ok(red > blue + 60, `${red} ${blue}`);
      const grey = await colorAt(page, 2, 0.8);
      assert.ok(Math.max(...grey) - Math.min(...grey) < 30, grey.join());
      const back = writeDiffPage(diff(run(80), run(20)), browser.path(`faster-${colorScheme}.html`));
      const other = await browser.open(back, { colorScheme });
      await other.page.locator(FLAME).waitFor();
      const [less = 0, , more = 0] = await colorAt(other.page, 2, 0.3);
      assert.ok(more > less + 60, `${less} ${more}`);
      assert.deepEqual([...complaints, ...other.complaints], []);
    });
  }

  it('shows both times and their difference on hover, zooms on a click, and zooms out with a button', async () => {
    const { page } = await browser.open(slower);
    const canvas = page.locator(FLAME);
    await canvas.waitFor();
    const { width } = (await canvas.boundingBox()) ?? { width: 0 };
    await canvas.hover({ position: { x: width * 0.3, y: 50 } });
    await said(page, LINE, /parse[\s\S]*200 ms → 800 ms \(\+0\.60 s, \+300\.0 %\); own code 200 ms → 800 ms/);
    await canvas.click({ position: { x: width * 0.9, y: 50 } });
    await page.mouse.move(0, 0);
    await said(page, LINE, /read[\s\S]*500 ms → 500 ms, unchanged/);
    await page.getByRole('button', { name: 'Show all' }).click();
    await said(page, LINE, /all samples/);
  });

  it('moves from function to function, zooms in and out, and searches by keyboard', async () => {
    const { page } = await browser.open(slower);
    await page.locator(FLAME).waitFor();
    await page.locator('.flame-scroll').focus();
    await page.keyboard.press('ArrowDown');
    await said(page, LINE, /^load/);
    await page.keyboard.press('ArrowDown');
    await said(page, LINE, /^parse/);
    await page.keyboard.press('ArrowRight');
    await said(page, LINE, /^read/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('parse');
    await said(page, '.search .found', /^6[12](\.\d)? ?%$/);
    // Functions that do not match are faded.
    const [red = 0, green = 0] = await colorAt(page, 2, 0.3);
    const faded = await colorAt(page, 2, 0.8);
    assert.ok(red > green + 30 && Math.min(...faded) > 230, `${red} ${green}, ${faded.join()}`);
  });

  it('shows all columns beside a long name', async () => {
    const named = (stopped: number) =>
      syntheticTrace({ tasks: [{ key: `${'long_name_'.repeat(30)}-1`, started: 0, stopped }] });
    const { page } = await browser.open(writeDiffPage(diff(named(1), named(2)), browser.path('long.html')));
    await said(page, 'table', /long_name_/);
    const [table, room] = await page
      .locator('table')
      .evaluate((one) => [one.scrollWidth, one.parentElement?.clientWidth ?? 0]);
    assert.ok(table !== undefined && room !== undefined && table <= room, `${table} of ${room} px`);
  });

  it('shows a message if there are no samples', async () => {
    const path = writeDiffPage(diff(run(20, false), run(20, false)), browser.path('plain.html'));
    const { page, complaints } = await browser.open(path);
    await said(page, 'main', /no call stacks to compare/);
    await said(page, 'table', /makespan/);
    assert.deepEqual(complaints, []);
  });
});

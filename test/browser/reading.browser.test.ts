// Readability of full pages: similar names of workers, numbers beside long notes, labels in graphs, search results on every
// page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { type SyntheticTask, syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { useBrowser } from '../support/browser.js';
import { comes, go, panel, said, viewOf, whole } from '../support/dashboardPage.js';
import { EPOCH } from '../support/sampleTraces.js';

const browser = useBrowser();

const address = (worker: number): string => `tcp://10.20.30.${40 + worker}:${41_000 + worker}`;
/** Ten tasks in sequence, each of which depends on the two tasks before. Thousands of short tasks follow on six workers. */
const steps = Array.from({ length: 10 }, (_, i) => `step-number-${String.fromCharCode(97 + i)}`);
const tasks: SyntheticTask[] = steps.map((prefix, i) => ({
  key: `${prefix}-0`,
  prefix,
  group: prefix,
  worker: address(i % 6),
  started: EPOCH + i,
  stopped: EPOCH + i + 0.9,
  nbytes: 1000 * (i + 1),
  needs: [i - 1, i - 2].filter((one) => one >= 0).map((one) => `${steps[one]}-0`),
  ...(i === 4 ? { state: 'erred' as const } : {}),
}));
for (let i = 0; i < 12_000; i++)
  tasks.push({
    key: `inc-${i}`,
    worker: address(i % 6),
    started: EPOCH + 10 + Math.floor(i / 6) * 1e-3,
    stopped: EPOCH + 10 + Math.floor(i / 6) * 1e-3 + 9e-4,
  });
const trace = syntheticTrace({
  tasks,
  memory: Array.from({ length: 6 }, (_, i) => ({ worker: address(i), time: EPOCH + 1, managed: 1e8 })),
  transfers: Array.from({ length: 6 }, (_, i) => ({
    worker: address(i),
    peer: address((i + 1) % 6),
    keys: ['step-number-a-0'],
    nbytes: 1e6,
    start: EPOCH + i,
    stop: EPOCH + i + 0.1,
  })),
  // The second event was reported late.
  events: [2, 1].map((time) => ({ time: EPOCH + time, topic: 'retry', text: `attempt ${time}` })),
});

async function open(hash: string, width = 1440, height = 900, shown = trace) {
  const path = writeReport(shown, browser.path(`${Math.random().toString(36).slice(2)}.html`));
  const opened = await browser.open(path, { viewport: { width, height } }, hash);
  await whole(opened.page);
  return opened;
}

/** Returns for each matching element whether its text is cut off. */
const isCut = (page: Page, selector: string) =>
  page
    .locator(selector)
    .evaluateAll((elements) => elements.map(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1));

test('workers whose addresses begin alike have different short names', async () => {
  const { page, complaints } = await open('#status');
  const names = await page.locator(`${panel('Memory per worker')} .name`).allInnerTexts();
  assert.deepEqual(names, ['…40:41000', '…41:41001', '…42:41002', '…43:41003', '…44:41004', '…45:41005']);
  assert.ok((await isCut(page, `${panel('Memory per worker')} .name`)).every((cut) => !cut));
  const whole = await page
    .locator(`${panel('Memory per worker')} .name`)
    .first()
    .getAttribute('title');
  assert.equal(whole, address(0));
  await go(page, 'bandwidth');
  const titles = await page.locator('.matrix thead th').allInnerTexts();
  assert.deepEqual(titles.slice(1), names);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the panels of Status list workers in the order of the task stream, and name runs without a result', async () => {
  const names = ['w-10', 'w-9'];
  const shown = syntheticTrace({
    tasks: [
      { key: 'a-0', worker: 'w-10', started: EPOCH, stopped: EPOCH + 1 },
      { key: 'a-1', worker: 'w-9', started: EPOCH, stopped: EPOCH + 1, state: 'cancelled' },
    ],
    memory: names.map((worker) => ({ worker, time: EPOCH, managed: 1e8 })),
  });
  const { page } = await open('#status', 1440, 900, shown);
  await said(page, panel('Memory per worker'), /w-9[\s\S]*w-10/);
  await said(page, panel('Progress'), /2 runs ended, 1 without result/);
  await page.context().close();
});

test('plots fill the height that panels leave', async () => {
  const { page } = await open('#memory', 1440, 1000);
  const box = async (selector: string) => {
    const found = await page.locator(selector).boundingBox();
    assert.ok(found !== null);
    return found;
  };
  const [plots, panels] = [await box('.split > .plots'), await box('.split > .scroll')];
  assert.ok(Math.abs(panels.y + panels.height - 1000) < 1 && plots.y + plots.height <= panels.y + 1);
  await go(page, 'status');
  const status = await box('.split > .scroll');
  const content = await box('.split > .scroll > .panels');
  assert.ok(Math.abs(status.height - Math.min(content.height, 0.54 * (1000 - 48))) < 3, `${status.height}`);
  await page.context().close();
});

test('the note about several tasks per pixel does not hide the numbers', async () => {
  const { page } = await open('#stream?from=10&to=11.8', 1024, 768);
  await said(page, '.plot-heading', /tasks per pixel[\s\S]*Busy in this window\s*\d+/);
  const values = await page.locator('.plot-heading .values').first().boundingBox();
  const drawing = await page.locator('.drawing canvas').first().boundingBox();
  assert.ok(values !== null && drawing !== null);
  // The numbers end before the column to the right of the lanes.
  assert.ok(values.x + values.width <= drawing.x + drawing.width - 70);
  await page.context().close();
});

test('a search finds the same tasks on every page, and leads to a task from every page', async () => {
  const { page, complaints } = await open('#workers');
  await page.keyboard.press('/');
  await page.keyboard.type('step');
  for (const name of ['workers', 'stream', 'errors', 'metrics']) {
    await go(page, name);
    await said(page, '.search .found', /^10 found$/);
  }
  await page.locator('.search input').focus();
  await page.keyboard.press('Enter');
  await page.locator('main.page[data-page="stream"]').waitFor();
  await said(page, '.details .key', /^step-number-a-0$/);
  await said(page, '.search .found', /^1 of 10$/);
  await go(page, 'graph');
  await page.getByRole('button', { name: 'Next match' }).click();
  await page.getByRole('button', { name: 'Show step-number-b-0 in the task stream' }).waitFor();
  await page.getByRole('button', { name: 'Previous match' }).click();
  await page.getByRole('button', { name: 'Show step-number-a-0 in the task stream' }).waitFor();
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the details of a failed task show its prefix and its failure', async () => {
  const { page } = await open('#stream?task=step-number-e-0');
  assert.match(await said(page, '.details', /Prefix/), /Prefix\s+step-number-e\s*erred/);
  await page.context().close();
});

test('a task that died with its worker leads from the errors to the graph, because the task stream lacks it', async () => {
  const never = { started: Number.NaN, stopped: Number.NaN, acknowledged: EPOCH + 1, state: 'lost' } as const;
  const shown = syntheticTrace({
    tasks: [
      { key: 'died-0', worker: 'w', ...never },
      { key: 'a-0', worker: 'w', started: EPOCH, stopped: EPOCH + 1 },
    ],
    events: [
      { time: EPOCH + 1, topic: 'task-erred', text: "Task 'died-0' (function died, worker w) KilledWorker" },
    ],
  });
  const { page, complaints } = await open('#errors', 1440, 900, shown);
  await page.getByRole('button', { name: 'died-0' }).click();
  await page.locator('main.page[data-page="graph"]').waitFor();
  await page.waitForFunction(() => location.hash === '#graph?node=died-0');
  assert.equal(await page.getByRole('button', { name: /in the task stream/ }).count(), 0);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the log and the events are in order of time', async () => {
  const { page } = await open('#logs');
  await said(page, '.log', /attempt 1\n.*attempt 2/);
  await go(page, 'events');
  await said(page, 'tbody', /attempt 2[\s\S]*attempt 1/);
  await page.context().close();
});

test('the memory page lists the largest results first', async () => {
  const { page } = await open('#memory');
  await said(page, `${panel('Results by prefix')} tbody tr`, /^step-number-j\s+10 kB/);
  await page.context().close();
});

test('no edge of a graph crosses a label, and a long graph runs down the page', async () => {
  const { page, complaints } = await open('#groups');
  const graph = page.locator('.graph-view');
  await graph.locator('.node').first().waitFor();
  const through = await graph.evaluate((svg) => {
    const found: string[] = [];
    const words = [...svg.querySelectorAll('text')].map((text) => ({ text, box: text.getBBox() }));
    for (const path of svg.querySelectorAll<SVGPathElement>('path.edge')) {
      for (let at = 0; at < path.getTotalLength(); at += 2) {
        const { x, y } = path.getPointAtLength(at);
        for (const { text, box } of words)
          if (x > box.x && x < box.x + box.width && y > box.y + 3 && y < box.y + box.height - 3)
            found.push(text.textContent ?? '');
      }
    }
    return found;
  });
  assert.deepEqual(through, []);
  const size = await graph.evaluate(({ clientWidth, clientHeight, parentElement }) => ({
    width: clientWidth,
    height: clientHeight,
    room: parentElement?.clientWidth ?? 0,
  }));
  assert.ok(size.width <= size.room && size.height > 400, JSON.stringify(size));
  // The arrow key down follows the edges.
  await graph.locator('.node[tabindex="0"]').focus();
  await page.keyboard.press('Home');
  const before = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  await page.keyboard.press('ArrowDown');
  const after = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  assert.ok(/-a:|inc/.test(before) && before !== after, `${before} ${after}`);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('arrow keys scroll a page without a time axis, and no key changes the range of time', async () => {
  const { page } = await open('#summary');
  await page.setViewportSize({ width: 1000, height: 400 });
  const before = await viewOf(page);
  const scroller = page.locator('.scroll');
  await scroller.evaluate((element) => {
    element.tabIndex = -1;
    element.focus();
  });
  await page.keyboard.press('ArrowDown');
  const top = () => scroller.evaluate(({ scrollTop }) => scrollTop);
  await comes(
    page,
    () => 'the page does not scroll',
    async () => (await top()) > 0,
  );
  for (const key of ['ArrowUp', 'd', 'w', '-', '0']) await page.keyboard.press(key);
  const { start, stop } = await viewOf(page);
  assert.deepEqual([start, stop], [before.start, before.stop]);
  await page.context().close();
});

test('the links of the navigation keep their positions when a page is chosen', async () => {
  const { page } = await open('#summary');
  const places = () =>
    page
      .locator('nav.pages a')
      .evaluateAll((links) => links.map((link) => Math.round(link.getBoundingClientRect().top)));
  const before = await places();
  for (const name of ['metrics', 'system', 'compute']) {
    await go(page, name);
    assert.deepEqual(await places(), before, name);
  }
  await page.context().close();
});

test('a link that is followed while the page updates its address opens the page of the link', async () => {
  const { page } = await open('#status');
  for (const wanted of ['stream', 'workers', 'groups']) {
    // The timers that update the address run between the change of the hash and its event.
    await page.evaluate((name) => {
      const { setTimeout } = globalThis;
      const later: (() => void)[] = [];
      Object.assign(globalThis, { setTimeout: (run: () => void) => later.push(run) });
      globalThis.longpoleDashboard?.show(1, 2 + Math.random());
      Object.assign(globalThis, { setTimeout });
      location.hash = `#${name}`;
      for (const run of later) run();
      return later.length;
    }, wanted);
    await page.locator(`main.page[data-page="${wanted}"]`).waitFor();
    await page.evaluate(() => globalThis.longpoleDashboard?.idle());
    assert.match(await page.evaluate(() => location.hash), new RegExp(`^#${wanted}`));
  }
  await page.context().close();
});

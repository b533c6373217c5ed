// The task stream of the dashboard: sums of a time window, steps from task to task, dependencies of a task, search, and
// copying a key.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { formatDuration } from '#internal/dashboard/model/format.js';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { useBrowser } from '../support/browser.js';
import { comes, go, plain, said, whole } from '../support/dashboardPage.js';
import { EPOCH, loadsAndFits } from '../support/sampleTraces.js';

const browser = useBrowser();

const trace = loadsAndFits({
  intervals: [{ worker: 'w0', action: 'disk-write', start: EPOCH + 6, stop: EPOCH + 7, nbytes: 1e6 }],
});

async function openStream(hash = '#stream') {
  const path = writeReport(trace, browser.path(`${Math.random().toString(36).slice(2)}.html`));
  const opened = await browser.open(path, {}, hash);
  await whole(opened.page);
  return opened;
}

const show = (page: Page, start: number, stop: number) =>
  page.evaluate(([from, to]) => globalThis.longpoleDashboard?.show(from!, to!), [start, stop]);

test('the legend sums the tasks in the time window, and separately the activities beside tasks', async () => {
  const { page, complaints } = await openStream();
  const whole = await said(page, '.legend', /Prefix/);
  assert.match(whole, /fit\s+5\s+3\.75 s[\s\S]*load\s+5\s+2\.50 s[\s\S]*All tasks\s+10\s+6\.25 s/);
  assert.match(whole, /Other activities[\s\S]*disk\s+1\s+1\.00 s/);
  await show(page, 0.25, 2.25);
  const some = await said(page, '.legend', /In the visible 2\.00 s/);
  assert.match(some, /load\s+3\s+1\.00 s/);
  assert.match(some, /2 more are not in this range/);
  assert.doesNotMatch(some, /fit|disk/);
  await page.keyboard.press('0');
  await said(page, '.legend', /All tasks\s*10\s*6\.25 s/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('keys step from task to task of a thread and zoom to the selected task', async () => {
  const { page, complaints } = await openStream();
  await page.keyboard.press('.');
  await said(page, '.details .key', /^load-0$/);
  await page.keyboard.press('.');
  await said(page, '.details .key', /^load-1$/);
  await page.keyboard.press('f');
  await page.evaluate(() => globalThis.longpoleDashboard?.idle());
  const view = await page.evaluate(() => globalThis.longpoleDashboard?.view());
  assert.ok(view !== undefined && Math.abs(view.start - 0.5) < 0.01 && Math.abs(view.stop - 2) < 0.01);
  await page.keyboard.press(',');
  await said(page, '.details .key', /^load-0$/);
  await page.keyboard.press(',');
  await said(page, '.details .key', /^load-0$/);
  await page.keyboard.press('Escape');
  await said(page, '.details', /Click a task/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a search continues from the shown time window', async () => {
  const { page, complaints } = await openStream();
  await show(page, 6.5, 8.5);
  await page.keyboard.press('/');
  await page.keyboard.type('fit');
  await page.keyboard.press('Enter');
  await said(page, '.search .found', /3 of 5/);
  await said(page, '.details .key', /^fit-2$/);
  await page.getByRole('button', { name: 'Previous match' }).click();
  await said(page, '.details .key', /^fit-1$/);
  await page.getByRole('button', { name: 'Next match' }).click();
  await page.getByRole('button', { name: 'Next match' }).click();
  await said(page, '.search .found', /4 of 5/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the details of a task link to its dependencies and copy its key, also from the status page', async () => {
  const { page, complaints } = await openStream('#stream?task=fit-3');
  assert.match(await said(page, '.details', /Needs 1 task/), /load-3/);
  const flowPixels = async () => {
    await page.evaluate(() => globalThis.longpoleDashboard?.idle());
    return page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.drawing canvas');
      const data = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      let count = 0;
      // #0b57d0 is the colour of a line from a dependency.
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === 11 && data[i + 1] === 87 && data[i + 2] === 208) count++;
      return count;
    });
  };
  await page.keyboard.press('0');
  await comes(
    page,
    () => 'there is no line from the task that was needed',
    async () => (await flowPixels()) > 20,
  );
  await page.getByRole('button', { name: 'Copy key' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  await page.locator('.search input').focus();
  await page.keyboard.press('Control+V');
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('.search input')?.value === 'fit-3',
  );
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'load-3' }).click();
  assert.match(await said(page, '.details', /Needed by 1 task/), /fit-3/);
  await go(page, 'status');
  await page.getByRole('button', { name: 'More about load-3' }).click();
  await said(page, '.details .key', /^load-3$/);
  await page.keyboard.press('Escape');
  await comes(
    page,
    () => 'the lines stay',
    async () => (await flowPixels()) === 0,
  );
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('measurements after the last task do not lower the busy share of workers', async () => {
  const late = syntheticTrace({
    workers: [{ name: 'w0', threads: 1 }],
    tasks: [{ key: 'a-1', worker: 'w0', started: EPOCH, stopped: EPOCH + 5 }],
    intervals: [{ worker: 'w0', action: 'gc', start: EPOCH + 99, stop: EPOCH + 100, nbytes: 0 }],
  });
  const { page } = await browser.open(writeReport(late, browser.path('late.html')));
  await whole(page);
  await go(page, 'stream');
  const facts = await said(page, '.bar .facts', /1 task/);
  assert.ok(facts.includes(plain(formatDuration(5))), facts);
  await said(page, '.plot-heading', /Workers busy\s+100 %/);
  await page.context().close();
});

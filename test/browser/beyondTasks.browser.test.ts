// Measurements on the dashboard before the first task of a run, after the last task, and without tasks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, delayed, LocalCluster } from 'longpole';
import type { Page } from 'playwright-core';
import { writePageAt } from '#internal/api/cluster/clientPages.js';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { type SyntheticSpec, syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { useBrowser } from '../support/browser.js';
import { comes, go, panel, said, viewOf, whole } from '../support/dashboardPage.js';
import { EPOCH, loadsAndFits } from '../support/sampleTraces.js';

const browser = useBrowser();

async function open(name: string, trace: ReturnType<typeof syntheticTrace>, hash: string) {
  const opened = await browser.open(writeReport(trace, browser.path(`${name}.html`)), {}, hash);
  await whole(opened.page);
  return opened;
}

const memory: SyntheticSpec['memory'] = [1, 5, 9].map((at) => ({
  worker: 'w0',
  time: EPOCH + at,
  managed: at * 1e6,
}));

test('the last state of a run contains workers that left just after the run', async () => {
  const workers = [{ name: 'w0', started: EPOCH - 1, stopped: EPOCH + 10.01, memoryLimit: 1e9 }];
  const tasks = [{ key: 'inc-0', worker: 'w0', started: EPOCH, stopped: EPOCH + 10 }];
  const { page, complaints } = await open('left', syntheticTrace({ workers, tasks, memory }), '#status');
  await said(page, panel('Memory per worker'), /w0[\s\S]*9 MB/);
  // Only a live scheduler knows the occupancy of its workers.
  const note = page.locator(`${panel('Occupancy and CPU')} header .muted`);
  assert.equal(await note.textContent(), 'CPU in %, at the end of the window');
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('samples after the last task count if the time window contains the end of the run', async () => {
  const sample = (at: number) => ({ time: EPOCH + at, worker: 'w1', prefix: 'fit', stack: ['fit', 'solve'] });
  const trace = loadsAndFits({ samples: [1, 2, 6, 9.7, 10.5].map(sample) });
  for (const [range, count] of [
    ['', 5],
    ['?from=5', 3],
    ['?to=8', 3],
    ['?from=5&to=9.72', 2],
    ['?from=5&to=60', 3],
  ] as const) {
    const { page } = await open('after', trace, `#profile${range}`);
    await said(page, 'section.functions', new RegExp(`(^|\\s)${count} samples`));
    await page.context().close();
  }
});

test('the profile of a local run says that its tasks are not sampled, and shows the scheduler', async () => {
  const sample = { time: EPOCH + 5, worker: null, prefix: '', stack: ['main'] };
  const { page } = await open('local', loadsAndFits({ samples: [sample] }), '#profile');
  await said(
    page,
    '.profile-none',
    /ran on a local scheduler, which does not sample them\. The option --cluster/,
  );
  await page.selectOption('[aria-label="Samples of"]', 'scheduler');
  await said(page, 'section.functions', /(^|\s)1 sample,/);
  await page.context().close();
});

test('the page of client.profile() has the samples since `start`, even after a worker was lost', async () => {
  const lost = { key: 'inc-0', state: 'lost', started: Number.NaN, stopped: Number.NaN } as const;
  const tasks = [lost, { key: 'inc-1', started: EPOCH, stopped: EPOCH + 10 }];
  const samples = [1, 2, 6, 10.5].map((at) => ({
    time: EPOCH + at,
    worker: 'w0',
    prefix: 'inc',
    stack: ['inc'],
  }));
  const path = browser.path('asked.html');
  const view = { page: 'profile', title: 'Profile', range: { start: EPOCH + 5 } } as const;
  writePageAt(syntheticTrace({ tasks, samples }), path, view);
  const { page, complaints } = await browser.open(path);
  await whole(page);
  await said(page, 'section.functions', /(^|\s)2 samples/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('measurements of a run without tasks are shown at their times', async () => {
  const workers = [{ name: 'w0', started: EPOCH }];
  const { page, complaints } = await open('idle', syntheticTrace({ workers, memory }), '#memory');
  const { start, stop } = await viewOf(page);
  assert.ok(Math.abs(start) < 0.1 && Math.abs(stop - 8) < 0.1, `${start} to ${stop}`);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the task stream says to a screen reader how many tasks and threads it shows, without other activities', async () => {
  const trace = syntheticTrace({
    workers: [{ name: 'w0', threads: 2 }],
    tasks: [{ key: 'load-0', worker: 'w0', started: EPOCH, stopped: EPOCH + 1 }],
    intervals: [{ worker: 'w0', action: 'gc', start: EPOCH + 1, stop: EPOCH + 2 }],
  });
  const { page } = await open('described', trace, '#stream');
  const description = await page.locator('.drawing canvas').getAttribute('aria-label');
  assert.match(description ?? '', /^1 task on 2 threads over .*: a row per thread, a rectangle per task/);
  await page.context().close();
});

const reaches = (page: Page, what: string, isSo: (view: Awaited<ReturnType<typeof viewOf>>) => boolean) => {
  let last = '';
  return comes(
    page,
    () => `${what}: ${last}`,
    async () => {
      const view = await viewOf(page);
      last = JSON.stringify(view);
      return isSo(view);
    },
  );
};

test('the page of a cluster shows measurements before the first task, and then the tasks', async () => {
  await using cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
  await using client = await connect(cluster);
  const { page } = await browser.open(browser.blank());
  await page.goto(`${cluster.dashboardLink ?? ''}#memory`);
  // Workers report their memory twice a second.
  await reaches(page, 'the window does not grow', ({ start, stop }) => stop - start > 1.5);
  const square = delayed(function square(x: number) {
    return x * x;
  });
  const before = performance.now();
  assert.equal(await client.compute(square(7)), 49);
  const call = (performance.now() - before) / 1000;
  // The run lies within the call, and the measurements began more than a second before it.
  await reaches(
    page,
    `the window is not within the call of ${call} s`,
    ({ start, stop }) => stop - start < call + 1,
  );
  await go(page, 'compute');
  await said(page, panel('By prefix'), /square/);
  await page.context().close();
});

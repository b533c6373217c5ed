// Keys, names and messages with control characters or extreme length: every page shows visible symbols and short names.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { diff } from '#internal/analysis/diff/diff.js';
import { writeDiffPage } from '#internal/diagnostics/diffPage.js';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import type { ProgressRow, WorkerRow } from '#internal/protocol/viewMessages.js';
import { ScriptedCluster } from '#internal/server/dashboard.test.support.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import type { LiveSource } from '#internal/server/source.js';
import { type SyntheticSpec, syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import type { Trace } from '#internal/trace/trace.js';
import { useBrowser } from '../support/browser.js';
import { go, ready, said, whole } from '../support/dashboardPage.js';
import { EPOCH } from '../support/sampleTraces.js';
import { UNSAFE } from '../support/unsafeText.js';

const browser = useBrowser();

const WORKER: WorkerRow = {
  index: 0,
  name: '',
  address: '',
  host: '',
  pid: 1,
  threads: 1,
  status: 'running',
  processing: 1,
  occupancy: 1,
  memoryLimit: 1e9,
  process: 1e6,
  managed: 1e5,
  unmanaged: 1e5,
  spilled: 0,
  started: 0,
};
const PROGRESS: ProgressRow = {
  prefix: '',
  total: 9,
  processing: 1,
  finished: 3,
  erred: 1,
  cancelled: 0,
  seconds: 3,
  current: { total: 9, finished: 3, erred: 1, cancelled: 0 },
};

const HOSTILE = '\u001b]0;T\u0007\u001b[2J\u202e\u009b31m\u2066\0name\u200b';
const LONG = `long-${'x'.repeat(1_000_000)}-end`;
/** Limit of the characters on one page. */
const MOST_TEXT = 400_000;
/** Limit of the width of any element in px, including elements that scroll within the page. */
const MOST_WIDTH = 20_000;

/** Returns a trace in which every name contains `name`. */
function traceOf(name: string): Trace {
  const worker = `${name}-worker`;
  const tasks: SyntheticSpec['tasks'] = Array.from({ length: 6 }, (_, i) => ({
    key: `${name}-${i}`,
    prefix: `${name}-prefix-${i % 2}`,
    group: `${name}-group-${i % 3}`,
    functionName: `${name}-function`,
    span: `${name}-span`,
    resultType: `${name}-type`,
    worker: i % 2 === 0 ? worker : `${worker}-2`,
    state: i === 4 ? 'erred' : 'memory',
    nbytes: 1000,
    started: EPOCH + i,
    stopped: EPOCH + i + 0.75,
    needs: i === 0 ? [] : [`${name}-${i - 1}`],
  }));
  return syntheticTrace({
    workers: [
      { name: worker, threads: 1, host: `${name}-host`, started: EPOCH, stopped: EPOCH + 9 },
      { name: `${worker}-2`, threads: 1, host: `${name}-host` },
    ],
    tasks,
    transfers: [
      { worker, peer: `${worker}-2`, nbytes: 500, start: EPOCH + 1, stop: EPOCH + 1.1, keys: [`${name}-0`] },
    ],
    intervals: [{ worker, action: 'gc', start: EPOCH + 2, stop: EPOCH + 2.1, task: `${name}-2` }],
    memory: [0, 1, 2].map((i) => ({ worker, time: EPOCH + i, managed: 1000 * i, process: 1e6 })),
    resources: [0, 1, 2].map((i) => ({
      worker,
      time: EPOCH + i,
      figures: { cpu: 50, [`${name}-figure`]: i },
    })),
    metrics: [0, 1].map((i) => ({
      time: EPOCH + i,
      worker,
      span: `${name}-span`,
      prefix: `${name}-prefix-0`,
      activity: `${name}-activity`,
      unit: i === 0 ? 'seconds' : `${name}-unit`,
      value: 1,
    })),
    samples: [0, 1, 2].map((i) => ({
      time: EPOCH + i,
      worker,
      prefix: `${name}-prefix-0`,
      stack: [`${name}-outer`, `${name}-inner`],
      count: 10,
    })),
    events: [
      { time: EPOCH + 1, worker, topic: 'log', text: `${name} said\nin two lines` },
      { time: EPOCH + 2, worker, topic: `${name}-topic`, text: `${name}-4 failed: ${name}` },
    ],
  });
}

/** Runs in the page. */
function shown() {
  const app = document.getElementById('app');
  const texts = [document.title, app?.textContent ?? ''];
  let width = 0;
  for (const element of app?.querySelectorAll('*') ?? []) {
    width = Math.max(width, element.scrollWidth);
    for (const name of ['title', 'aria-label', 'placeholder', 'alt'])
      texts.push(element.getAttribute(name) ?? '');
  }
  return { texts, width, page: document.documentElement.scrollWidth, window: innerWidth };
}

interface Look {
  readonly wrong: readonly string[];
  readonly text: string;
}

/** Returns the faults of the page in its present state, and its whole text. */
async function look(page: Page, where: string): Promise<Look> {
  const { texts, width, page: pageWidth, window } = await page.evaluate(shown);
  const wrong = texts.flatMap((text) => {
    const found = UNSAFE.exec(text.replaceAll('\t', ' '));
    const around = text.slice(Math.max(0, (found?.index ?? 0) - 40), (found?.index ?? 0) + 20);
    return found === null ? [] : [`${where} shows ${JSON.stringify(around)}`];
  });
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > MOST_TEXT) wrong.push(`${where} shows ${length} characters`);
  if (pageWidth > window) wrong.push(`${where} is ${pageWidth} px wide in a window of ${window}`);
  if (width > MOST_WIDTH) wrong.push(`something in ${where} is ${width} px wide`);
  return { wrong, text: texts.join('\n') };
}

/** Moves the pointer over the first plot until a tooltip appears. */
async function pointAtTask(page: Page): Promise<void> {
  const box = await page.locator('section.plot canvas').first().boundingBox();
  assert.ok(box !== null);
  for (let share = 0.05; share < 1; share += 0.05) {
    await page.mouse.move(box.x + box.width * share, box.y + box.height / 4);
    await ready(page);
    if ((await page.locator('.tooltip').count()) > 0) return;
  }
  assert.fail('No task has a tooltip.');
}

describe('hostile names', () => {
  const reports = { hostile: '', long: '' };
  before(() => {
    for (const [kind, name] of [
      ['hostile', HOSTILE],
      ['long', LONG],
    ] as const) {
      reports[kind] = browser.path(`${kind}.html`);
      writeReport(traceOf(name), reports[kind], { title: name, facts: { Program: name } });
    }
  });

  for (const kind of ['hostile', 'long'] as const)
    it(`are shown with visible symbols, shortened and within the window on every page of a report (${kind})`, async () => {
      const { page, complaints } = await browser.open(reports[kind]);
      await whole(page);
      const names = await page.evaluate(() => globalThis.longpoleDashboard?.pages() ?? []);
      assert.ok(names.length > 10);
      const looks: Look[] = [];
      for (const name of names) {
        await go(page, name);
        looks.push(await look(page, name));
      }
      await go(page, 'graph');
      await page.locator('.graph-view .node').first().click();
      await ready(page);
      looks.push(await look(page, 'the graph around a task'));
      await go(page, 'stream');
      await page.locator('.search input').fill('-2');
      await page.locator('.search input').press('Enter');
      await page.locator('.details').waitFor();
      await pointAtTask(page);
      looks.push(await look(page, 'the stream with a task that is chosen and one that is pointed at'));
      assert.deepEqual(
        looks.flatMap(({ wrong }) => wrong),
        [],
      );
      const all = looks.map(({ text }) => text).join();
      assert.match(all, kind === 'hostile' ? /␛\]0;T␇␛\[2J<U\+202E><U\+009B>31m/ : /long-x+…x+-end/);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

  it('are shown with visible symbols on every page of a running cluster', async () => {
    const cluster = new ScriptedCluster({ seed: 3, sizes: [20], workers: 2, batch: 5 });
    cluster.play();
    const time = 1_790_000_000;
    const source: LiveSource = {
      ...cluster.source(),
      title: HOSTILE,
      facts: { [HOSTILE]: HOSTILE },
      status: () => ({
        time,
        states: { memory: 3, processing: 1 },
        workers: [{ ...WORKER, name: HOSTILE, address: HOSTILE, host: HOSTILE, started: time - 9 }],
        running: [{ id: 1, key: HOSTILE, prefix: HOSTILE, worker: 0, started: time - 5 }],
        progress: [{ ...PROGRESS, prefix: HOSTILE }],
        graphStart: time - 9,
      }),
    };
    const server = await DashboardServer.start({ source, port: 0 });
    const { page } = await browser.open(browser.blank());
    await page.goto(server.link);
    await page.locator('main.page[data-status="live"]').waitFor();
    // The page receives rows after its status.
    await said(page, '.bar .facts', /20 tasks/);
    const names = await page.evaluate(() => globalThis.longpoleDashboard?.pages() ?? []);
    const looks: Look[] = [];
    for (const name of names) {
      await go(page, name);
      looks.push(await look(page, name));
    }
    assert.deepEqual(
      looks.flatMap(({ wrong }) => wrong),
      [],
    );
    await page.context().close();
    await server.close();
  });

  it('are shown with visible symbols on the page of a diff', async () => {
    const path = browser.path('diff.html');
    writeDiffPage(diff(traceOf(HOSTILE), traceOf(HOSTILE)), path, { before: HOSTILE, after: LONG });
    const { page, complaints } = await browser.open(path);
    await page.locator('section[aria-label="Call stacks"]').waitFor();
    assert.deepEqual((await look(page, 'the diff')).wrong, []);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});

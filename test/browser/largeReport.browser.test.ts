// A report of a million tasks in a browser. The test prints the size of the file, the time to open it and the time of a
// frame. It checks that the number of drawn rectangles depends on the pixels, not on the tasks, and that totals are exact.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import type { Computation } from '#internal/protocol/clusterObserver.js';
import { LiveTrace } from '#internal/trace/live/liveTrace.js';
import type { Trace } from '#internal/trace/trace.js';
import { useBrowser } from '../support/browser.js';
import { comes, go, panel, said, whole } from '../support/dashboardPage.js';
import { randomNumbers } from '../support/samplePages.js';

const browser = useBrowser();
const EPOCH = 1_700_000_000;

/** Returns a live trace of four workers that run batches in turn. Three of four tasks depend on an earlier task. */
function millionTasks(count: number): Trace {
  const random = randomNumbers(3);
  const prefixes = ['inc', 'double', 'sum', 'load', 'parse', 'filter'];
  const needs = (task: number): boolean => task % 4 !== 0;
  const dependencyOffsets = new Int32Array(count + 1);
  const dependencies: number[] = [];
  for (let task = 0; task < count; task++) {
    if (needs(task)) dependencies.push(Math.floor(random() * task));
    dependencyOffsets[task + 1] = dependencies.length;
  }
  const prefixOf = Int32Array.from({ length: count }, () => Math.floor(random() * prefixes.length));
  const computation: Computation = {
    number: 1,
    firstId: 0,
    size: count,
    keys: Array.from(prefixOf, (prefix, i) => `${prefixes[prefix]}-${i.toString(16).padStart(8, '0')}`),
    prefixOf,
    prefixes,
    functionOf: prefixOf,
    functions: prefixes,
    spanOf: null,
    spans: [['default']],
    dependencyOffsets,
    dependencies: Int32Array.from(dependencies),
    externals: new Float64Array(0),
    submitted: EPOCH,
    client: 'client',
    code: '',
  };
  const live = new LiveTrace({ window: { tasks: count } });
  for (let index = 0; index < 4; index++) {
    const name = `w${index}`;
    live.workerAdded({
      index,
      name,
      address: name,
      host: 'h',
      pid: 1,
      threads: 1,
      memoryLimit: 0,
      startTime: EPOCH,
    });
  }
  const free = [EPOCH, EPOCH, EPOCH, EPOCH];
  const size = 500;
  for (let from = 0, turn = 0; from < count; from += size, turn++) {
    const worker = turn % 4;
    const started = new Float64Array(size);
    const stopped = new Float64Array(size);
    const sent = new Float64Array(size).fill(free[worker]!);
    for (let i = 0; i < size; i++) {
      started[i] = free[worker]! + random() * 1e-4;
      stopped[i] = started[i]! + 1e-3 * (0.4 + random());
      free[worker] = stopped[i]!;
    }
    live.tasksEnded({
      computation,
      worker,
      count: size,
      ids: Int32Array.from({ length: size }, (_, i) => from + i),
      states: new Uint8Array(size),
      types: new Uint16Array(size),
      typeNames: ['number'],
      nbytes: new Float64Array(size).fill(8),
      attempts: new Uint8Array(size).fill(1),
      ready: sent,
      dispatched: sent,
      received: sent,
      started,
      stopped,
      acknowledged: free[worker]!,
    });
  }
  return live.snapshot();
}

test('a report of 1,000,000 tasks with 750,000 dependencies opens and draws far fewer rectangles than tasks', async () => {
  const count = 1_000_000;
  const path = writeReport(millionTasks(count), browser.path('million.html'), { title: 'million' });
  const before = performance.now();
  const { page, complaints } = await browser.open(path);
  await whole(page);
  const opened = performance.now() - before;
  await said(page, panel('The run'), /Tasks\s+1,000,000/);
  await go(page, 'stream');
  console.log(
    `1,000,000 tasks: ${(statSync(path).size / count).toFixed(1)} bytes a task, open ${opened.toFixed(0)} ms`,
  );
  const viewNow = () => page.evaluate(() => JSON.stringify(globalThis.longpoleDashboard?.view()));
  const measure = async (name: string, act: (round: number) => Promise<void>) => {
    await page.evaluate(() => globalThis.longpoleDashboard?.animationFrameTimes());
    const times: number[] = [];
    // A busy page draws one frame for many moves, so the gesture is repeated until there are enough frames.
    for (let round = 0; times.length <= 5; round++) {
      const before = await viewNow();
      await act(round);
      await comes(
        page,
        () => `${name} does not move the view`,
        async () => (await viewNow()) !== before,
      );
      await page.evaluate(() => globalThis.longpoleDashboard?.idle());
      times.push(...(await page.evaluate(() => globalThis.longpoleDashboard?.animationFrameTimes() ?? [])));
    }
    const rectangles = await page.evaluate(() => globalThis.longpoleDashboard?.rectangles() ?? 0);
    times.sort((a, b) => a - b);
    const median = times[times.length >> 1] ?? 0;
    console.log(
      `${name}: ${times.length} frames, median ${median.toFixed(1)} ms, worst ${(times.at(-1) ?? 0).toFixed(1)} ms, ${rectangles} rectangles`,
    );
    assert.ok(rectangles > 100 && rectangles < 60_000, `${rectangles} rectangles`);
  };
  const drag = async (round: number) => {
    const [from, to] = round % 2 === 0 ? [900, 500] : [500, 900];
    await page.mouse.move(from, 300);
    await page.mouse.down();
    await page.mouse.move(to, 300, { steps: 40 });
    await page.mouse.up();
  };
  await page.evaluate(() => globalThis.longpoleDashboard?.show(20, 120));
  await measure('pan, 300 s of 4 workers', drag);
  await measure('zoom', async (round) => {
    await page.mouse.move(700, 300);
    for (let i = 0; i < 16; i++) await page.mouse.wheel(0, round % 2 === 0 ? -120 : 120);
  });
  await page.evaluate(() => globalThis.longpoleDashboard?.show(20, 21));
  await measure('pan, 1 s', drag);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

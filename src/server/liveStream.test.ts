import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { LiveTrace, type TraceChanges } from '../trace/live/liveTrace.js';
import { expectedTasks, restOf, tasksOf } from '../trace/live/plainRows.test.support.js';
import { totalsFromJson } from '../trace/recording/totalsJson.js';
import { ScriptedCluster, TEST_PAGE, TestPage } from './dashboard.test.support.js';
import { DashboardServer } from './dashboardServer.js';
import type { ViewerLimits } from './outlet.js';

const STORY = { seed: 7, sizes: [30, 700, 5, 512, 90], workers: 3, batch: 7 };
/** More bytes than the buffers of the system can hold. */
const MANY = { seed: 3, sizes: Array.from({ length: 40 }, () => 700), workers: 3, batch: 60 };

function serve(cluster: ScriptedCluster, limits: Partial<ViewerLimits> = {}): Promise<DashboardServer> {
  return DashboardServer.start({
    source: cluster.source(),
    port: 0,
    page: TEST_PAGE,
    limits: { intervalMs: 5, ...limits },
  });
}

/** Returns the number of runs of tasks in the script of a cluster. */
const runsOf = ({ played }: ScriptedCluster): number =>
  played.runs.reduce((sum, { count }) => sum + count, 0);

/** Closes the server, and checks that its pages have received every row once and in order. */
async function assertWhole(
  server: DashboardServer,
  cluster: ScriptedCluster,
  ...pages: TestPage[]
): Promise<void> {
  const ended = pages.map((page) => page.ended());
  await server.close();
  await Promise.all(ended);
  for (const page of pages) assertSame(page, cluster);
}

function assertSame(page: TestPage, cluster: ScriptedCluster): void {
  const trace = page.trace();
  assert.deepEqual(tasksOf(trace), expectedTasks(cluster.played));
  assert.deepEqual(restOf(trace), restOf(cluster.trace.snapshot()));
  assert.deepEqual([...trace.tasks.dependencyRows], [...cluster.trace.snapshot().tasks.dependencyRows]);
  assert.deepEqual(
    page.texts.filter(({ type }) => type === 'truncated'),
    [],
  );
}

describe('the live stream', () => {
  for (const part of [0, 0.3, 0.999, 1]) {
    it(`sends all rows to a page that connects after ${part * 100} % of the steps`, async () => {
      const cluster = new ScriptedCluster(STORY);
      const server = await serve(cluster);
      cluster.play(Math.floor(cluster.steps * part));
      const page = new TestPage();
      await page.connect(server.link);
      if (part > 0) await page.caughtUp(cluster.trace);
      while (cluster.trace.cursor.tasks < runsOf(cluster)) {
        cluster.play(50);
        await page.caughtUp(cluster.trace);
      }
      cluster.play();
      await page.caughtUp(cluster.trace);
      await assertWhole(server, cluster, page);
    });
  }

  it('sends the same bytes to all live pages', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster);
    const pages = [new TestPage(), new TestPage(), new TestPage()];
    for (const page of pages) {
      await page.connect(server.link);
      await page.hasBegun();
    }
    // The server may make a page live a moment after the page has all rows. Until then, the page gets rows of its own.
    const same: boolean[] = [];
    for (let played = 0; played < cluster.steps; played += 5) {
      const before = pages.map(({ bytes }) => bytes.length);
      cluster.play(5);
      for (const page of pages) await page.caughtUp(cluster.trace);
      const [first, ...others] = pages.map(({ bytes }, index) => bytes.slice(before[index]));
      same.push(others.every((other) => isDeepStrictEqual(other, first)));
    }
    assert.ok(same.length > 20);
    assert.deepEqual(same.slice(-10), Array(10).fill(true));
    await server.close();
  });

  it('encodes nothing while no page is connected', async () => {
    class CountingTrace extends LiveTrace {
      reads = 0;
      override changesSince(...args: Parameters<LiveTrace['changesSince']>): TraceChanges {
        this.reads++;
        return super.changesSince(...args);
      }
    }
    const trace = new CountingTrace();
    const cluster = new ScriptedCluster(STORY, trace);
    const server = await serve(cluster);
    const page = new TestPage();
    await page.connect(server.link);
    cluster.play(100);
    await page.caughtUp(trace);
    await page.leave();
    while (server.viewers > 0) await new Promise((resolve) => setImmediate(resolve));
    const { reads } = trace;
    cluster.play();
    // The server has time for several intervals.
    for (let i = 0; i < 20; i++) await (await fetch(`${server.link}health`)).text();
    assert.equal(trace.reads, reads);
    await server.close();
  });

  it('continues after a broken connection', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster);
    cluster.play(400);
    const page = new TestPage();
    await page.connect(server.link);
    await page.caughtUp(cluster.trace);
    await page.leave();
    cluster.play(300);
    await page.connect(server.link, page.point);
    cluster.play();
    await page.caughtUp(cluster.trace);
    const begins = page.texts.filter((message) => message.type === 'begin');
    assert.deepEqual(
      begins.map(({ resumed }) => resumed),
      [false, true],
    );
    await assertWhole(server, cluster, page);
  });

  it('restarts for a page that has seen another run, or with a cursor beyond the end', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster);
    cluster.play(400);
    const page = new TestPage();
    await page.connect(server.link);
    await page.caughtUp(cluster.trace);
    await page.leave();
    const { epoch, cursor } = page.point!;
    for (const from of [
      { epoch: 'another', cursor },
      { epoch, cursor: { ...cursor, events: cursor.events + 1 } },
    ]) {
      const again = new TestPage();
      await again.connect(server.link, from);
      const [begin] = again.texts;
      assert.equal(begin?.type === 'begin' && begin.resumed, false);
      await again.caughtUp(cluster.trace);
      assert.equal(again.trace().tasks.length, cluster.trace.cursor.tasks);
      await again.leave();
    }
    await server.close();
  });

  it('sends nothing to a paused page, and the remaining rows when it resumes', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster);
    const [page, other] = [new TestPage(), new TestPage()];
    await page.connect(server.link);
    await page.hasBegun();
    await other.connect(server.link);
    page.send({ type: 'pause' });
    await page.roundTrip();
    const rows = page.cursor?.tasks;
    cluster.play(500);
    await other.caughtUp(cluster.trace);
    // Messages that were sent before arrive before the answer.
    await page.roundTrip();
    assert.equal(page.cursor?.tasks, rows);
    page.send({ type: 'resume' });
    await page.caughtUp(cluster.trace);
    cluster.play();
    await page.caughtUp(cluster.trace);
    await assertWhole(server, cluster, page);
  });

  for (const [what, window, maxCatchUp] of [
    ['evicted rows', 400, 1e6],
    ['more tasks than the limit', 1e6, 100],
  ] as const) {
    it(`reports the rows that a late page misses: ${what}`, async () => {
      const trace = new LiveTrace({ window: { tasks: window } });
      const cluster = new ScriptedCluster(STORY, trace);
      const server = await serve(cluster, { maxCatchUp });
      cluster.play();
      const page = new TestPage();
      await page.connect(server.link);
      await page.caughtUp(trace);
      const truncated = page.texts.filter((message) => message.type === 'truncated');
      const missed = truncated.reduce((rows, message) => rows + message.missed.tasks, 0);
      const { tasks } = page.trace();
      assert.ok(missed > 0 && tasks.length >= 100);
      assert.equal(missed + tasks.length, trace.cursor.tasks);
      const sums = page.texts.findLast((message) => message.type === 'sums');
      const runs = totalsFromJson(sums?.totals)?.states.reduce((a, b) => a + b, 0);
      assert.equal(runs, trace.cursor.tasks);
      await server.close();
    });
  }

  it('sends all rows, but later, while the thread has no time', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster);
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    while (cluster.trace.cursor.tasks < runsOf(cluster)) {
      cluster.play(100);
      const end = performance.now() + 15;
      while (performance.now() < end);
      await new Promise((resolve) => setImmediate(resolve));
    }
    cluster.play();
    await page.caughtUp(cluster.trace);
    await assertWhole(server, cluster, page);
  });

  it('ends with the last rows when the run is over', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster, { intervalMs: 3_600_000 });
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    cluster.play();
    const closed = page.ended();
    await server.close('The test is over.');
    assert.equal(await closed, 1000);
    assert.deepEqual(page.texts.at(-1), {
      type: 'closed',
      reason: 'The test is over.',
      complete: true,
    });
    assertSame(page, cluster);
  });

  it('notifies a page without all rows that its data is incomplete when the run is over', async () => {
    const cluster = new ScriptedCluster(STORY);
    const server = await serve(cluster);
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    page.send({ type: 'pause' });
    await page.roundTrip();
    cluster.play();
    const closed = page.ended();
    await server.close('The test is over.');
    assert.equal(await closed, 1000);
    const last = { type: 'closed', reason: 'The test is over.', complete: false };
    assert.deepEqual(page.texts.at(-1), last);
  });

  it('sends the last messages even if the thread is blocked for a while', async ({ mock }) => {
    const cluster = new ScriptedCluster(MANY);
    const server = await serve(cluster, { intervalMs: 3_600_000, maxBuffered: 2 ** 30 });
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    cluster.play();
    const ended = page.ended();
    // The test drives the polls of the close, because a slow machine needs many of them for so many bytes.
    const { setInterval } = globalThis;
    const polls: (() => void)[] = [];
    const driven = mock.method(globalThis, 'setInterval', (poll: () => void) => {
      polls.push(poll);
      return setInterval(() => undefined, 2 ** 30);
    });
    const closed = server.close('The test is over.');
    driven.mock.restore();
    const end = performance.now() + 500;
    while (performance.now() < end);
    // After a block, a timer fires once.
    assert.equal(polls.length, 1);
    polls[0]?.();
    await closed;
    assert.equal(await ended, 1000);
    assertSame(page, cluster);
  });
});

describe('a slow page', () => {
  it('is skipped, fills only a bounded buffer, and catches up', async () => {
    const cluster = new ScriptedCluster(MANY);
    const maxBuffered = 64 * 1024;
    const server = await serve(cluster, { maxBuffered, stuckMs: 3_600_000 });
    const [slow, quick] = [new TestPage(), new TestPage()];
    await slow.connect(server.link);
    await slow.hasBegun();
    await quick.connect(server.link);
    slow.stopReading();
    while (cluster.trace.cursor.tasks < runsOf(cluster)) {
      cluster.play(100);
      await quick.caughtUp(cluster.trace);
    }
    cluster.play();
    await quick.caughtUp(cluster.trace);
    slow.resumeReading();
    await slow.caughtUp(cluster.trace);
    await assertWhole(server, cluster, quick, slow);
  });

  it('is disconnected if it reads nothing for too long', async () => {
    const cluster = new ScriptedCluster({ seed: 3, sizes: [700], workers: 2, batch: 60 });
    const server = await serve(cluster, { maxBuffered: 1024, stuckMs: 50 });
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    page.stopReading();
    const ended = page.ended();
    // More than the system's own buffers hold.
    const text = 'x'.repeat(2 ** 17);
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        cluster.trace.event({ time: 1, worker: -1, topic: 'log', text });
        if (server.viewers > 0) return;
        clearInterval(timer);
        resolve();
      }, 1);
    });
    // A paused socket does not notice the end of its connection.
    page.resumeReading();
    assert.equal(await ended, 1006);
    await server.close();
  });
});

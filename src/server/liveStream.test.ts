import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveTrace, type TraceChanges } from '../trace/live/liveTrace.js';
import { expectedTasks, restOf, tasksOf } from '../trace/live/plainRows.test.support.js';
import { TEST_PAGE, TestPage, ToldCluster } from './dashboard.test.support.js';
import { DashboardServer } from './dashboardServer.js';
import type { ViewerLimits } from './limits.js';

const STORY = { seed: 7, sizes: [30, 700, 5, 512, 90], workers: 3, batch: 7 };
/** More bytes than the system takes at once. */
const MANY = { seed: 3, sizes: Array.from({ length: 40 }, () => 700), workers: 3, batch: 60 };

function serve(cluster: ToldCluster, limits: Partial<ViewerLimits> = {}): Promise<DashboardServer> {
  return DashboardServer.start({
    source: cluster.source(),
    port: 0,
    page: TEST_PAGE,
    limits: { intervalMs: 5, ...limits },
  });
}

/** Ends the server: what its pages have then is everything that was told, once and in order. */
async function assertWhole(
  server: DashboardServer,
  cluster: ToldCluster,
  ...pages: TestPage[]
): Promise<void> {
  const ended = pages.map((page) => page.ended());
  await server.close();
  await Promise.all(ended);
  for (const page of pages) assertSame(page, cluster);
}

function assertSame(page: TestPage, cluster: ToldCluster): void {
  const trace = page.trace();
  assert.deepEqual(tasksOf(trace), expectedTasks(cluster.told));
  assert.deepEqual(restOf(trace), restOf(cluster.trace.snapshot()));
  assert.deepEqual([...trace.tasks.dependencyRows], [...cluster.trace.snapshot().tasks.dependencyRows]);
  assert.deepEqual(
    page.texts.filter(({ type }) => type === 'truncated'),
    [],
  );
}

describe('the live stream', () => {
  for (const part of [0, 0.3, 0.999, 1]) {
    it(`gives all rows to a page that comes when ${part * 100} % has been told`, async () => {
      const cluster = new ToldCluster(STORY);
      const server = await serve(cluster);
      cluster.tell(Math.floor(cluster.steps * part));
      const page = new TestPage();
      await page.connect(server.link);
      if (part > 0) await page.caughtUp(cluster.trace);
      while (cluster.trace.cursor.tasks < expectedTasks(cluster.told).length) {
        cluster.tell(50);
        await page.caughtUp(cluster.trace);
      }
      cluster.tell();
      await page.caughtUp(cluster.trace);
      await assertWhole(server, cluster, page);
    });
  }

  it('sends the same bytes to all pages that are there', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster);
    const pages = [new TestPage(), new TestPage(), new TestPage()];
    for (const page of pages) {
      await page.connect(server.link);
      await page.hasBegun();
    }
    cluster.tell();
    for (const page of pages) await page.caughtUp(cluster.trace);
    assert.deepEqual(pages[1]!.bytes, pages[0]!.bytes);
    assert.deepEqual(pages[2]!.bytes, pages[0]!.bytes);
    await server.close();
  });

  it('encodes nothing while nobody looks', async () => {
    class CountingTrace extends LiveTrace {
      reads = 0;
      override changesSince(...args: Parameters<LiveTrace['changesSince']>): TraceChanges {
        this.reads++;
        return super.changesSince(...args);
      }
    }
    const trace = new CountingTrace();
    const cluster = new ToldCluster(STORY, trace);
    const server = await serve(cluster);
    const page = new TestPage();
    await page.connect(server.link);
    cluster.tell(100);
    await page.caughtUp(trace);
    await page.leave();
    while (server.viewers > 0) await new Promise((resolve) => setImmediate(resolve));
    const { reads } = trace;
    cluster.tell();
    // Meanwhile the server does other things for longer than its interval.
    for (let i = 0; i < 20; i++) await (await fetch(`${server.link}health`)).text();
    assert.equal(trace.reads, reads);
    await server.close();
  });

  it('goes on where a connection broke', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster);
    cluster.tell(400);
    const page = new TestPage();
    await page.connect(server.link);
    await page.caughtUp(cluster.trace);
    await page.leave();
    cluster.tell(300);
    await page.connect(server.link, page.point);
    cluster.tell();
    await page.caughtUp(cluster.trace);
    const begins = page.texts.filter((message) => message.type === 'begin');
    assert.deepEqual(
      begins.map(({ resumed }) => resumed),
      [false, true],
    );
    await assertWhole(server, cluster, page);
  });

  it('begins anew for a page that saw another run, or claims to have seen more than there is', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster);
    cluster.tell(400);
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

  it('sends nothing to a page that paused, and the rest when it goes on', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster);
    const [page, other] = [new TestPage(), new TestPage()];
    await page.connect(server.link);
    await page.hasBegun();
    await other.connect(server.link);
    page.send({ type: 'pause' });
    await page.wasHeard();
    const rows = page.cursor?.tasks;
    cluster.tell(500);
    await other.caughtUp(cluster.trace);
    // What it was sent until then has come before the answer.
    await page.wasHeard();
    assert.equal(page.cursor?.tasks, rows);
    page.send({ type: 'resume' });
    await page.caughtUp(cluster.trace);
    cluster.tell();
    await page.caughtUp(cluster.trace);
    await assertWhole(server, cluster, page);
  });

  for (const [what, window, maxCatchUp] of [
    ['rows let go', 400, 1e6],
    ['more tasks than are sent', 1e6, 100],
  ] as const) {
    it(`says what a late page misses: ${what}`, async () => {
      const trace = new LiveTrace({ window: { tasks: window } });
      const cluster = new ToldCluster(STORY, trace);
      const server = await serve(cluster, { maxCatchUp });
      cluster.tell();
      const page = new TestPage();
      await page.connect(server.link);
      await page.caughtUp(trace);
      const truncated = page.texts.filter((message) => message.type === 'truncated');
      const missed = truncated.reduce((rows, message) => rows + message.missed.tasks, 0);
      const { tasks } = page.trace();
      assert.ok(missed > 0 && tasks.length >= 100);
      assert.equal(missed + tasks.length, trace.cursor.tasks);
      const sums = page.texts.findLast((message) => message.type === 'sums');
      const runs = Object.values(sums?.runs ?? {}).reduce((a, b) => a + b, 0);
      assert.equal(runs, trace.cursor.tasks);
      await server.close();
    });
  }

  it('gives all rows, later, when the thread has no time to send them', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster);
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    while (cluster.trace.cursor.tasks < expectedTasks(cluster.told).length) {
      cluster.tell(100);
      const end = performance.now() + 15;
      while (performance.now() < end);
      await new Promise((resolve) => setImmediate(resolve));
    }
    cluster.tell();
    await page.caughtUp(cluster.trace);
    await assertWhole(server, cluster, page);
  });

  it('says good-bye with the last rows when the run is over', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster, { intervalMs: 3_600_000 });
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    cluster.tell();
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

  it('tells a page that has not got everything so when the run is over', async () => {
    const cluster = new ToldCluster(STORY);
    const server = await serve(cluster);
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    page.send({ type: 'pause' });
    await page.wasHeard();
    cluster.tell();
    const closed = page.ended();
    await server.close('The test is over.');
    assert.equal(await closed, 1000);
    const last = { type: 'closed', reason: 'The test is over.', complete: false };
    assert.deepEqual(page.texts.at(-1), last);
  });

  it('says good-bye to the end also where its thread stands still on the way', async () => {
    const cluster = new ToldCluster(MANY);
    const server = await serve(cluster, { intervalMs: 3_600_000, maxBuffered: 2 ** 30 });
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    cluster.tell();
    const ended = page.ended();
    const closed = server.close('The test is over.');
    const end = performance.now() + 500;
    while (performance.now() < end);
    await closed;
    assert.equal(await ended, 1000);
    assertSame(page, cluster);
  });
});

describe('a slow page', () => {
  it('is left out, keeps nothing waiting without bound, and catches up', async () => {
    const cluster = new ToldCluster(MANY);
    const maxBuffered = 64 * 1024;
    const server = await serve(cluster, { maxBuffered, stuckMs: 3_600_000 });
    const [slow, quick] = [new TestPage(), new TestPage()];
    await slow.connect(server.link);
    await slow.hasBegun();
    await quick.connect(server.link);
    slow.stopReading();
    while (cluster.trace.cursor.tasks < expectedTasks(cluster.told).length) {
      cluster.tell(100);
      await quick.caughtUp(cluster.trace);
    }
    cluster.tell();
    await quick.caughtUp(cluster.trace);
    slow.readOn();
    await slow.caughtUp(cluster.trace);
    await assertWhole(server, cluster, quick, slow);
  });

  it('that takes nothing for too long is disconnected', async () => {
    const cluster = new ToldCluster({ seed: 3, sizes: [700], workers: 2, batch: 60 });
    const server = await serve(cluster, { maxBuffered: 1024, stuckMs: 50 });
    const page = new TestPage();
    await page.connect(server.link);
    await page.hasBegun();
    page.stopReading();
    const ended = page.ended();
    // More than the system's own buffers hold.
    const text = 'x'.repeat(2 ** 17);
    await new Promise<void>((resolve) => {
      const tell = setInterval(() => {
        cluster.trace.event({ time: 1, worker: -1, topic: 'log', text });
        if (server.viewers > 0) return;
        clearInterval(tell);
        resolve();
      }, 1);
    });
    // A socket that is not read does not hear of its end.
    page.readOn();
    assert.equal(await ended, 1006);
    await server.close();
  });
});

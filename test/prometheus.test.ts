// The page for Prometheus of a cluster that has worked, read with a reader of its text format, against the scheduler's own
// numbers; and the list of its names in the docs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Client, connect, type Future, LocalCluster, type SchedulerInfo } from 'longpole';
import parse, { type ParsedFamily } from 'parse-prometheus-text-format';
import { measured } from './support/measuredTasks.js';
import { repositoryPath } from './support/repository.js';

const { spin, fail, noise, total } = measured;
const MEGA = 1_000_000;

class Page {
  readonly families: ReadonlyMap<string, ParsedFamily>;

  readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.families = new Map(parse(text).map((family) => [family.name, family]));
  }

  /** The sum of the samples that have these labels; undefined: there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const family = this.families.get(name);
    assert.ok(family !== undefined, `there is no ${name}`);
    const found = family.metrics.filter((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels?.[label] === value),
    );
    return found.length === 0 ? undefined : found.reduce((sum, one) => sum + Number(one.value), 0);
  }
}

async function scrape(client: Client): Promise<Page> {
  const answer = await fetch(`${client.dashboardLink}metrics`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return new Page(await answer.text());
}

/** Only a figure that never comes takes so many milliseconds. */
const PATIENCE = 100_000;

/** Scrapes until it is so: workers tell of what they did after their results. */
async function scrapeUntil(client: Client, isSo: (page: Page) => boolean): Promise<Page> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    await client.profile();
    const page = await scrape(client);
    if (isSo(page)) return page;
    assert.ok(performance.now() < end, JSON.stringify([...page.families.values()]));
  }
}

function infoOf(client: Client): SchedulerInfo {
  return client.schedulerInfo();
}

function checkScheduler(page: Page, { tasks, workers }: SchedulerInfo): void {
  for (const [state, count] of Object.entries(tasks)) {
    if (state === 'forgotten') continue;
    assert.equal(page.value('dask_scheduler_tasks', { state }), count, state);
  }
  assert.equal(page.value('dask_scheduler_tasks', { state: 'forgotten' }), undefined);
  assert.equal(page.value('dask_scheduler_workers'), Object.keys(workers).length);
  for (const [worker, { memory, nthreads }] of Object.entries(workers)) {
    assert.equal(page.value('dask_worker_threads', { worker }), nthreads);
    assert.equal(page.value('dask_worker_memory_bytes', { worker, type: 'spilled' }), memory.spilled);
    assert.equal(page.value('dask_worker_memory_bytes', { worker, type: 'managed' }), memory.managed);
    assert.ok((page.value('dask_worker_gc_collection_seconds_total', { worker }) ?? -1) >= 0);
  }
}

/** Each fine performance metric in seconds, bytes or counts stands on the page with the scheduler's number. */
async function checkActivities(client: Client): Promise<void> {
  const metricsNow = () => client.runOnScheduler(({ scheduler }) => [...scheduler.cumulativeWorkerMetrics]);
  let metrics = await metricsNow();
  let page = await scrape(client);
  // A worker may tell of a garbage collection between the two.
  for (let again = await metricsNow(); !isDeepStrictEqual(metrics, again); again = await metricsNow()) {
    metrics = again;
    page = await scrape(client);
  }
  assert.ok(metrics.length > 5);
  for (const [key, value] of metrics) {
    const [context = '', ...rest] = key;
    const [prefix, activity = '', unit = ''] = rest.length === 3 ? rest : ['', ...rest];
    const labels = { context, task_prefix_name: prefix ?? '', activity };
    assert.equal(page.value(`longpole_activity_${unit}_total`, labels), Math.max(0, value), key.join());
  }
}

for (const processes of [false, true]) {
  describe(`the page for Prometheus on ${processes ? 'processes' : 'threads'}`, () => {
    test('has the numbers of the scheduler', async () => {
      const options = {
        workers: 2,
        processes,
        dashboard: { port: 0 },
        memoryLimit: '150MB',
        // Whatever else the process holds: nothing waits for it to become less.
        memory: { pause: false, terminate: false },
      } as const;
      await using cluster = await LocalCluster.start(options);
      await using client = await connect(cluster, { setAsDefault: false });
      await using other = await connect(cluster, { setAsDefault: false });
      await other.close();
      await client.compute([spin(0.05), spin(0.05)]);
      await assert.rejects(client.compute(fail()));
      const [first = '', second = ''] = cluster.workers;
      const arrays: Future<Float64Array>[] = [];
      for (let seed = 0; seed < 12; seed++) arrays.push(client.submit(noise, MEGA, seed, { workers: first }));
      const one = client.submit(noise, MEGA, 12, { workers: first });
      const sum = client.submit(total, one, { workers: second });
      assert.equal(await sum.result(), MEGA);
      await Promise.all(arrays.map((one) => one.wait()));

      const spilled = { worker: first, activity: 'disk-write' };
      const pair = { from: first, to: second };
      const prefix = (name: string) => ({ task_prefix_name: name });
      const atLeast = (one: Page, name: string, labels: Readonly<Record<string, string>>, least: number) =>
        (one.value(name, labels) ?? -1) >= least;
      const page = await scrapeUntil(
        client,
        (one) =>
          atLeast(one, 'dask_worker_spill_bytes_total', spilled, 8 * MEGA) &&
          atLeast(one, 'dask_worker_transfer_incoming_bytes_total', { worker: second }, 8 * MEGA) &&
          atLeast(one, 'dask_worker_transfer_outgoing_bytes_total', { worker: first }, 8 * MEGA) &&
          atLeast(one, 'longpole_transfer_bytes_total', pair, 8 * MEGA) &&
          // Everything of the first three computations; of the others the results are held.
          atLeast(one, 'dask_scheduler_tasks_forgotten_total', {}, 2) &&
          one.value('longpole_activity_seconds_total', { ...prefix('fail'), activity: 'failed' }) !==
            undefined &&
          (!processes || one.value('dask_worker_latency_seconds', { worker: first }) !== undefined) &&
          one.value('dask_worker_transfer_incoming_count', { worker: second }) === 0,
      );
      assert.deepEqual(
        [page.value('dask_scheduler_clients'), page.value('dask_scheduler_client_connections_added_total')],
        [1, 2],
      );
      assert.equal(page.value('dask_scheduler_client_connections_removed_total'), 1);
      assert.equal(page.value('dask_scheduler_workers_added_total'), 2);
      assert.equal(page.value('dask_scheduler_workers_removed_total'), 0);
      assert.equal(page.value('dask_scheduler_desired_workers'), 0, 'nothing is left to do');
      const ended = (name: string, state: string) =>
        page.value('dask_scheduler_prefix_state_totals_total', { ...prefix(name), state });
      assert.deepEqual(
        [ended('spin', 'memory'), ended('fail', 'erred'), ended('noise', 'memory')],
        [2, 1, 13],
      );
      // Seconds since the epoch have steps of a quarter of a microsecond.
      assert.ok(
        (page.value('dask_scheduler_tasks_compute_seconds_total', prefix('spin')) ?? 0) >= 0.1 - 2e-6,
      );
      assert.ok((page.value('dask_scheduler_tasks_output_bytes', prefix('noise')) ?? 0) >= 12 * 8 * MEGA);
      assert.ok((page.value('dask_scheduler_tasks_transfer_seconds_total', prefix('noise')) ?? 0) > 0);
      assert.ok((page.value('longpole_transfer_seconds_total', pair) ?? 0) > 0);
      // Since the look before, which may have been a moment ago.
      await scrapeUntil(
        client,
        (one) =>
          (one.value('dask_scheduler_tick_duration_maximum_seconds') ?? 0) > 0 &&
          (one.value('dask_scheduler_tick_count_total') ?? 0) > 0,
      );
      assert.equal(page.families.get('longpole_task_duration_seconds')?.type, 'HISTOGRAM');
      // The reader puts histograms of different labels into one.
      assert.match(page.text, /^longpole_task_duration_seconds_count\{task_prefix_name="spin"\} 2$/m);
      assert.match(
        page.text,
        /^longpole_task_duration_seconds_bucket\{task_prefix_name="spin",le="\+Inf"\} 2$/m,
      );
    });

    test('agrees with schedulerInfo and with the fine performance metrics', async () => {
      await using client = await connect({ workers: 2, processes, dashboard: { port: 0 } });
      const held = client.submit(total, client.submit(noise, 1000, 1));
      await held.result();
      await client.compute([spin(0.02), spin(0.02), spin(0.02)]);
      await scrapeUntil(
        client,
        (one) =>
          one.value('longpole_activity_seconds_total', {
            task_prefix_name: 'spin',
            activity: 'thread-cpu',
          }) !== undefined,
      );
      // Memory is looked at every half second while nothing runs: between two looks the numbers stand still.
      for (const end = performance.now() + PATIENCE; ; ) {
        const before = infoOf(client);
        const page = await scrape(client);
        const isStill = isDeepStrictEqual(before, infoOf(client));
        assert.ok(isStill || performance.now() < end, 'the numbers do not stand still');
        if (!isStill) continue;
        checkScheduler(page, before);
        break;
      }
      await checkActivities(client);
      held.release();
    });
  });
}

test('the docs have every name, and no other', async () => {
  await using client = await connect({ workers: 1, dashboard: { port: 0 } });
  const page = await scrape(client);
  const text = readFileSync(repositoryPath('docs/metrics-reference.md'), 'utf8');
  const told = new Set(text.match(/\b(?:dask_(?:scheduler|worker|stealing)|longpole)_[a-z_]+\b/g));
  assert.deepEqual([...told].sort(), [...page.families.keys()].sort());
  for (const { name, help, type } of page.families.values()) {
    assert.ok(help.length > 0, name);
    if (type === 'COUNTER') assert.match(name, /_total$/);
  }
});

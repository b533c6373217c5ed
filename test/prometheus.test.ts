// The page for Prometheus, parsed and compared with the numbers of the scheduler and with the list of metrics in the docs.
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

  /** Returns the sum of the samples that have these labels; undefined without such samples. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const family = this.families.get(name);
    assert.ok(family !== undefined, `the page has no metric ${name}`);
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

/** Time limit in milliseconds for an expected number. */
const PATIENCE = 200_000;

/** Scrapes until a condition holds. Workers report measurements after their results. */
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

/** Checks that the page has every fine performance metric with the value of the scheduler. */
async function checkActivities(client: Client): Promise<void> {
  const metricsNow = () => client.runOnScheduler(({ scheduler }) => [...scheduler.cumulativeWorkerMetrics]);
  let metrics = await metricsNow();
  let page = await scrape(client);
  // A worker may report a garbage collection between the two reads.
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
    test('has the expected numbers after a run with failures, transfers and spilling', async () => {
      const options = {
        workers: 2,
        processes,
        dashboard: { port: 0 },
        memoryLimit: '150MB',
        // No worker pauses or ends because of memory that is not part of results.
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
          // The results of the first two computations are released, those of the others are held.
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
      assert.equal(page.value('dask_scheduler_desired_workers'), 0, 'no task is unfinished');
      const ended = (name: string, state: string) =>
        page.value('dask_scheduler_prefix_state_totals_total', { ...prefix(name), state });
      assert.deepEqual(
        [ended('spin', 'memory'), ended('fail', 'erred'), ended('noise', 'memory')],
        [2, 1, 13],
      );
      // Epoch times have a resolution of a quarter of a microsecond.
      assert.ok(
        (page.value('dask_scheduler_tasks_compute_seconds_total', prefix('spin')) ?? 0) >= 0.1 - 2e-6,
      );
      assert.ok((page.value('dask_scheduler_tasks_output_bytes', prefix('noise')) ?? 0) >= 12 * 8 * MEGA);
      assert.ok((page.value('dask_scheduler_tasks_transfer_seconds_total', prefix('noise')) ?? 0) > 0);
      assert.ok((page.value('longpole_transfer_seconds_total', pair) ?? 0) > 0);
      // These numbers cover the time since the last scrape, which may be too short for a tick.
      await scrapeUntil(
        client,
        (one) =>
          (one.value('dask_scheduler_tick_duration_maximum_seconds') ?? 0) > 0 &&
          (one.value('dask_scheduler_tick_count_total') ?? 0) > 0,
      );
      assert.equal(page.families.get('longpole_task_duration_seconds')?.type, 'HISTOGRAM');
      // The parser merges histograms with different labels, so the text is checked.
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
      // An isolate may take a while to load its CPU clock.
      const cpu = { task_prefix_name: 'spin', activity: 'thread-cpu' };
      do await client.compute([spin(0.02), spin(0.02), spin(0.02)]);
      while ((await scrape(client)).value('longpole_activity_seconds_total', cpu) === undefined);
      // An idle worker measures its memory every half second, and the numbers are constant between two measurements.
      for (const end = performance.now() + PATIENCE; ; ) {
        const before = infoOf(client);
        const page = await scrape(client);
        const isConstant = isDeepStrictEqual(before, infoOf(client));
        assert.ok(isConstant || performance.now() < end, 'the numbers never stay constant');
        if (!isConstant) continue;
        checkScheduler(page, before);
        break;
      }
      await checkActivities(client);
      held.release();
    });
  });
}

test('a task that ended its worker too often counts as failed, also when it is forgotten', async () => {
  await using client = await connect({ workers: 1, allowedFailures: 1, dashboard: { port: 0 } });
  const deadly = client.submit((): never => process.exit(1));
  const behind = client.submit((one: number) => one + 1, deadly);
  for (const one of [deadly, behind])
    await assert.rejects(one.result(), { code: 'ERR_LONGPOLE_KILLED_WORKER' });
  const expected = { memory: 0, erred: 1, cancelled: 0, skipped: 1 };
  const check = async (memory: number): Promise<void> => {
    const page = await scrape(client);
    for (const state of ['memory', 'erred', 'cancelled', 'skipped'] as const)
      assert.equal(
        page.value('dask_scheduler_prefix_state_totals_total', { state }),
        state === 'memory' ? memory : expected[state],
        state,
      );
    const states = await client.runOnScheduler(({ scheduler }) => scheduler.spans.get()?.states);
    assert.deepEqual(states, { pending: 0, ...expected, memory });
  };
  await check(0);
  for (const one of [deadly, behind]) one.release();
  assert.equal(await client.submit(() => 1).result(), 1);
  await check(1);
});

test('the docs list exactly the metrics of the page for Prometheus', async () => {
  await using client = await connect({ workers: 1, dashboard: { port: 0 } });
  const page = await scrape(client);
  const text = readFileSync(repositoryPath('docs/metrics-reference.md'), 'utf8');
  const listed = new Set(text.match(/\b(?:dask_(?:scheduler|worker|stealing)|longpole)_[a-z_]+\b/g));
  assert.deepEqual([...listed].sort(), [...page.families.keys()].sort());
  for (const { name, help, type } of page.families.values()) {
    assert.ok(help.length > 0, name);
    if (type === 'COUNTER') assert.match(name, /_total$/);
  }
});

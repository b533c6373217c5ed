import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASK_ERRED, TASK_LOST, TASK_MEMORY, type WorkerInfo } from '../../protocol/clusterObserver.js';
import { TotalSums } from '../../trace/totals.js';
import type { ClusterFigures } from './figures.js';
import { PrometheusMetrics } from './prometheus.js';

function totalsOfRun(): TotalSums {
  const totals = new TotalSums();
  const inc = totals.prefix('inc');
  for (const seconds of [0.1, 0.4, 2, 2, 8]) inc.add(TASK_MEMORY, seconds, 1024);
  for (const state of [TASK_MEMORY, TASK_MEMORY, TASK_ERRED, TASK_LOST, TASK_LOST]) inc.tasks.ended(state, 0);
  for (let index = 0; index < 4; index++) totals.workers.add(workerInfo(index));
  totals.workers.remove(workerInfo(3));
  totals.addTransfer(0, -1, false, 30, 30, 0.5);
  totals.addFetch(['inc-1', 'inc-2'], 0.75);
  const execute = { context: 'execute', span: 'default', prefix: 'inc' };
  totals.addMetric({ ...execute, activity: 'thread-cpu', unit: 'seconds', value: 1 });
  totals.addMetric({ ...execute, span: 'Alice', activity: 'thread-cpu', unit: 'seconds', value: 0.5 });
  totals.addMetric({ ...execute, activity: 'S3 "cold"\n', unit: 'bytes', value: 1000 });
  const network = { activity: 'network', unit: 'seconds', value: 0.5 };
  totals.addMetric({ context: 'gather-dep', span: 'default', prefix: 'inc', ...network });
  return totals;
}

function workerInfo(index: number): WorkerInfo {
  const place = { address: '', host: '', pid: 1, threads: 1, memoryLimit: 0 };
  return { index, name: `threads-${index}`, startTime: 1, ...place };
}

const FIGURES: ClusterFigures = {
  totals: totalsOfRun(),
  clients: 1,
  clientsAdded: 3,
  clientsRemoved: 2,
  desiredWorkers: 7,
  tasksForgotten: 11,
  tasks: new Map([
    ['waiting', 3],
    ['memory', 5],
  ]),
  workers: [0, 2, 3].map((processing, index) => ({
    ...workerInfo(index),
    status: 'running',
    started: 1,
    processing,
    occupancy: processing,
    process: 150,
    managed: 100,
    unmanaged: 50,
    spilled: 0,
    running: index,
    results: 4,
    incomingBytes: 10,
    incomingCount: 1,
    outgoingBytes: 20,
    outgoingCount: 2,
    open: { incomingBytes: 5, incomingCount: 1, outgoingBytes: 6, outgoingCount: 2 },
    latency: index === 0 ? Number.NaN : 0.001,
    gcSeconds: 0.5,
    eventLoopDelay: 1.5,
    spill: [
      { activity: 'disk-write', unit: 'bytes', value: 800 },
      { activity: 'disk-write', unit: 'seconds', value: 0.25 },
      { activity: 'memory-read', unit: 'count', value: 9 },
    ],
  })),
  stimuli: new Map([['tasks-finished', { count: 7, seconds: 0.25 }]]),
  thread: { eventLoopDelay: 0.02, longestTick: 0.03, ticks: 100, gcSeconds: 0.125 },
};

/** Returns all samples as `name{labels}` → value. Fails at an invalid line. */
async function scrape(metrics: PrometheusMetrics): Promise<Map<string, number>> {
  const samples = new Map<string, number>();
  for (const line of (await metrics.text()).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line);
    assert.ok(match !== null, `no sample: ${line}`);
    const [, name = '', value] = match;
    assert.ok(!samples.has(name), `${name} occurs twice`);
    samples.set(name, Number(value));
  }
  return samples;
}

test('figures that Dask has, too, have the names of Dask', async () => {
  const samples = await scrape(new PrometheusMetrics(() => FIGURES));
  const expected: Record<string, number> = {
    dask_scheduler_clients: 1,
    dask_scheduler_client_connections_added_total: 3,
    dask_scheduler_client_connections_removed_total: 2,
    dask_scheduler_desired_workers: 7,
    dask_scheduler_workers_added_total: 4,
    dask_scheduler_workers_removed_total: 1,
    dask_scheduler_tasks_forgotten_total: 11,
    dask_scheduler_gc_collection_seconds_total: 0.125,
    dask_scheduler_tick_duration_maximum_seconds: 0.03,
    dask_scheduler_tick_count_total: 100,
    dask_stealing_request_count_total: 0,
    'dask_scheduler_tasks_transfer_seconds_total{task_prefix_name="inc"}': 0.75,
    'dask_scheduler_workers{state="paused"}': 0,
    'dask_worker_latency_seconds{worker="threads-1"}': 0.001,
    'dask_worker_gc_collection_seconds_total{worker="threads-1"}': 0.5,
    'dask_worker_transfer_incoming_bytes{worker="threads-1"}': 5,
    'dask_worker_transfer_outgoing_count{worker="threads-1"}': 2,
    'dask_worker_spill_bytes_total{worker="threads-0",activity="disk-write"}': 800,
    'dask_worker_spill_count_total{worker="threads-0",activity="memory-read"}': 9,
    'dask_worker_spill_time_seconds_total{worker="threads-0",activity="disk-write"}': 0.25,
    'longpole_worker_event_loop_delay_seconds{worker="threads-0"}': 1.5,
    'longpole_transfer_bytes_total{from="threads-0",to="client"}': 30,
    'longpole_transfer_seconds_total{from="threads-0",to="client"}': 0.5,
    'dask_scheduler_workers{state="saturated"}': 2,
    'dask_scheduler_tasks{state="waiting"}': 3,
    'dask_worker_memory_bytes{worker="threads-0",type="unmanaged"}': 50,
    'dask_worker_tasks{worker="threads-2",state="executing"}': 2,
    'dask_worker_tasks{worker="threads-2",state="ready"}': 1,
    'dask_worker_tasks{worker="threads-2",state="memory"}': 4,
    'dask_worker_transfer_outgoing_bytes_total{worker="threads-1"}': 20,
    'dask_scheduler_tasks_compute_seconds_total{task_prefix_name="inc"}': 12.5,
    'dask_scheduler_tasks_output_bytes{task_prefix_name="inc"}': 5120,
    'dask_scheduler_tasks_suspicious_total{task_prefix_name="inc"}': 2,
    'dask_scheduler_prefix_state_totals_total{task_prefix_name="inc",state="erred"}': 1,
    'longpole_scheduler_busy_seconds_total{stimulus="tasks-finished"}': 0.25,
    longpole_scheduler_event_loop_delay_seconds: 0.02,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(samples.get(name), value, name);
  // Unknown values are left out.
  assert.ok(!samples.has('dask_worker_latency_seconds{worker="threads-0"}'));
});

test('figures without labels that a Dask cluster does not report are left out, and not 0', async () => {
  const unknown = Number.NaN;
  const figures: ClusterFigures = {
    ...FIGURES,
    clients: unknown,
    clientsAdded: unknown,
    clientsRemoved: unknown,
    desiredWorkers: unknown,
    tasksForgotten: unknown,
    stimuli: new Map(),
    thread: { eventLoopDelay: unknown, longestTick: unknown, ticks: unknown, gcSeconds: unknown },
  };
  const samples = await scrape(new PrometheusMetrics(() => figures));
  const unlabelled = [...samples.keys()].filter((name) => !name.includes('{'));
  assert.deepEqual(unlabelled, [
    'dask_scheduler_workers_added_total',
    'dask_scheduler_workers_removed_total',
  ]);
});

test('very long names are shortened in every label', async () => {
  const long = `long-${'x'.repeat(1_000_000)}-end`;
  const workers = FIGURES.workers.map((worker) => ({ ...worker, name: `${long}-${worker.name}` }));
  const totals = new TotalSums();
  totals.prefix(long).add(TASK_MEMORY, 1, 8);
  const task = { context: 'execute', span: '', prefix: long };
  totals.addMetric({ ...task, activity: long, unit: 'seconds', value: 1 });
  const figures = { ...FIGURES, workers, totals };
  const page = await new PrometheusMetrics(() => figures).text();
  assert.match(
    page,
    /longpole_activity_seconds_total\{[^}]*activity="long-x+…x+-end \(1,000,009 characters\)"/,
  );
  assert.ok(page.length < 200_000, `${page.length} characters`);
});

test('fine performance metrics have any label that a user chose', async () => {
  const samples = await scrape(new PrometheusMetrics(() => FIGURES));
  const seconds = 'longpole_activity_seconds_total';
  assert.equal(
    samples.get(`${seconds}{context="execute",task_prefix_name="inc",activity="thread-cpu"}`),
    1.5,
  );
  assert.equal(samples.get(`${seconds}{context="gather-dep",task_prefix_name="",activity="network"}`), 0.5);
  assert.equal(
    samples.get(
      'longpole_activity_bytes_total{context="execute",task_prefix_name="inc",activity="S3 \\"cold\\"\\n"}',
    ),
    1000,
  );
});

test('histograms of task durations accumulate', async () => {
  const samples = await scrape(new PrometheusMetrics(() => FIGURES));
  const at = (suffix: string): number | undefined => samples.get(`longpole_task_duration_seconds_${suffix}`);
  assert.equal(at('bucket{task_prefix_name="inc",le="0.25"}'), 1);
  assert.equal(at('bucket{task_prefix_name="inc",le="1"}'), 2);
  assert.equal(at('bucket{task_prefix_name="inc",le="4"}'), 4);
  assert.equal(at('bucket{task_prefix_name="inc",le="+Inf"}'), 5);
  assert.equal(at('sum{task_prefix_name="inc"}'), 12.5);
  assert.equal(at('count{task_prefix_name="inc"}'), 5);
});

test('each scrape has the current samples, without those of earlier scrapes', async () => {
  let workers = FIGURES.workers;
  const metrics = new PrometheusMetrics(() => ({ ...FIGURES, workers }));
  assert.ok((await scrape(metrics)).has('dask_worker_threads{worker="threads-2"}'));
  workers = workers.slice(0, 1);
  const samples = await scrape(metrics);
  assert.ok(!samples.has('dask_worker_threads{worker="threads-2"}'));
  assert.equal(samples.get('dask_scheduler_workers{state="idle"}'), 1);
});

test('a scrape stays small with 10,000 prefixes, and its sums are exact', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `prefix-${index}`);
  const totals = new TotalSums();
  const second = { context: 'execute', span: '', activity: 'thread-cpu', unit: 'seconds', value: 1 };
  for (const [index, prefix] of names.entries()) {
    totals.prefix(prefix).add(TASK_MEMORY, index, 8);
    totals.addMetric({ ...second, prefix });
  }
  const samples = await scrape(new PrometheusMetrics(() => ({ ...FIGURES, totals })));
  // Each of 501 labels has 31 samples of a histogram, and 9 others.
  assert.ok(samples.size < 20_500, `${samples.size} samples`);
  const sum = (name: string): number =>
    [...samples].filter(([sample]) => sample.startsWith(name)).reduce((total, [, value]) => total + value, 0);
  assert.equal(sum('longpole_activity_seconds_total'), 10_000);
  assert.equal(sum('longpole_task_duration_seconds_count'), 10_000);
  assert.equal(sum('dask_scheduler_tasks_compute_seconds_total'), (9999 * 10_000) / 2);
});

test('a sum that is not finite is left out, and the other metrics remain', async () => {
  const totals = totalsOfRun();
  const metric = { context: 'execute', span: 'default', prefix: 'inc', unit: 'seconds' };
  totals.addMetric({ ...metric, activity: 'endless', value: Number.POSITIVE_INFINITY });
  const text = await new PrometheusMetrics(() => ({ ...FIGURES, totals })).text();
  assert.ok(!text.includes('endless'));
  assert.match(text, /longpole_activity_seconds_total\{.*activity="thread-cpu".*\} 1\.5/);
});

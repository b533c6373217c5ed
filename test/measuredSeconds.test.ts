// The activities of a run's tasks add up to the durations of these tasks, and the remaining thread-seconds of the run are
// idle. The soak compares the same sums with the wall clock.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, connect, LocalCluster, span } from 'longpole';
import { measuredWith, type Workload, workloads } from './support/measuredRuns.js';
import { measured } from './support/measuredTasks.js';

/** Tolerance in seconds for rounding in sums of differences of epoch times. */
const EXACT = 1e-9;

function near(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) < EXACT, `${what}: ${actual} s, expected ${expected} s`);
}

async function assertSums(
  client: Client,
  workers: readonly string[],
  { name, run, shows }: Workload,
): Promise<void> {
  await span(name, () => run(client, workers));
  const { seconds, idle, inTasks, duration, offered } = await measuredWith(client, name, shows, EXACT);
  near(inTasks, duration, 'in tasks');
  // The scheduler may see the last completion, which ends the span, before the worker has measured its own overhead.
  // If the system preempts the worker in between, the measured seconds exceed the thread-seconds of the span.
  near(idle, Math.max(0, offered - (seconds - idle)), 'idle');
}

for (const processes of [false, true]) {
  describe(`the measured seconds of a run on ${processes ? 'processes' : 'threads'}`, () => {
    const { spilling, ...others } = workloads({ tasks: 6, seconds: 0.005, arrays: 5 });
    let cluster: LocalCluster;
    let client: Client;

    before(async () => {
      cluster = await LocalCluster.start({ workers: 2, processes });
      client = await connect(cluster, { setAsDefault: false });
    });
    after(async () => {
      await client.close();
      await cluster.close();
    });

    for (const workload of Object.values(others))
      test(`add up if the run is ${workload.name}`, () => assertSums(client, cluster.workers, workload));

    test('add up if the run has many short tasks', async () => {
      const name = 'many short tasks';
      const run = (): Promise<unknown> =>
        client.compute(Array.from({ length: 500 }, () => measured.spin(1e-5)));
      await assertSums(client, cluster.workers, { name, run, shows: ['execute,spin,thread-cpu,seconds'] });
    });

    test(`add up if the run is ${spilling.name}`, async () => {
      await using small = await LocalCluster.start({ workers: 2, processes, ...spilling.options });
      await using of = await connect(small, { setAsDefault: false });
      await assertSums(of, small.workers, spilling);
    });
  });
}

test('processes: the time that a result takes to pack counts once', async () => {
  await using cluster = await LocalCluster.start({ workers: 2, processes: true });
  await using client = await connect(cluster, { setAsDefault: false });
  const name = 'packing';
  await span(name, () => client.gather(client.map(measured.slowToPack, Array<number>(8).fill(0.05))));
  const shows = ['execute,slowToPack,serialize,seconds'] as const;
  const { metrics, inTasks, offered } = await measuredWith(client, name, shows, EXACT);
  // All results are packed before the completion that ends the span.
  const packing = metrics.get(shows[0]) ?? Number.NaN;
  assert.ok(inTasks + packing <= offered, `${inTasks} s and ${packing} s of ${offered} s`);
});

// No second of a task is lost and none is counted twice: what workers measure of a run's tasks is exactly the time that these
// tasks took, and what is left of the run's thread-seconds is idle. The soak compares the same sums with the wall clock.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, connect, LocalCluster, span } from 'longpole';
import { measuredWith, type Workload, workloads } from './support/measuredRuns.js';
import { measured } from './support/measuredTasks.js';

/** Sums of differences of seconds since the epoch, which have a resolution of 2.4e-7 s, are exact but for their last digits. */
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
  // A worker that lost its core before it had noted a task's end has measured more than the span has seen.
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
      test(`add up: ${workload.name}`, () => assertSums(client, cluster.workers, workload));

    test('add up: many short tasks', async () => {
      const name = 'many short tasks';
      const run = (): Promise<unknown> =>
        client.compute(Array.from({ length: 500 }, () => measured.spin(1e-5)));
      await assertSums(client, cluster.workers, { name, run, shows: ['execute,spin,thread-cpu,seconds'] });
    });

    test(`add up: ${spilling.name}`, async () => {
      await using small = await LocalCluster.start({ workers: 2, processes, ...spilling.options });
      await using of = await connect(small, { setAsDefault: false });
      await assertSums(of, small.workers, spilling);
    });
  });
}

// The time of tasks that fail, are cancelled, time out or lose their worker counts completely as `failed` or `cancelled`.
// The soak compares the sums of such runs with the wall clock.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Client, connect, type Delayed, KilledWorkerError, span } from 'longpole';
import { lost } from './support/lostTasks.js';

const { work, workUntil, waitUntil, exitAfter, killAfter, failAfter, total, answered } = lost;

/** Tolerance for the clocks of two threads, in seconds. The tests check lower bounds of times, never upper bounds. */
const CLOCKS = 0.03;

/** Returns the seconds per activity of the tasks with this prefix in the span `name`. */
async function seconds(client: Client, name: string, prefix: string): Promise<Map<string, number>> {
  // Each worker reports measurements after its results.
  await client.profile();
  return client.runOnScheduler(({ scheduler }) => {
    const sums = new Map<string, number>();
    for (const [key, value] of scheduler.spans.get([name])?.cumulativeWorkerMetrics ?? []) {
      const [, of, activity = '', unit] = key;
      if (unit === 'seconds' && of === prefix) sums.set(activity, (sums.get(activity) ?? 0) + value);
    }
    return sums;
  });
}

/** Time limit in milliseconds for reports of workers, also on a busy machine. */
const PATIENCE = 200_000;

/** Waits until an activity, or the sum of all activities, has at least `least` seconds. Returns all activities. */
async function untilSeconds(
  client: Client,
  name: string,
  prefix: string,
  activity: string | undefined,
  least: number,
) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const found = await seconds(client, name, prefix);
    const sum = [...found].reduce((all, [of, one]) => all + (of === (activity ?? of) ? one : 0), 0);
    if (sum >= least) return found;
    assert.ok(performance.now() < end, `${prefix} has ${JSON.stringify([...found])}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function untilExists(path: string): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!existsSync(path)) {
    assert.ok(performance.now() < end, 'the task has not begun');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function withFiles<T>(use: (begun: string, open: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-lost-'));
  try {
    return await use(join(folder, 'begun'), join(folder, 'open'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a task that ends its worker after 0.3 s, beside other tasks. Checks that the time of every attempt counts as failed. */
async function assertDeathsCount(
  client: Client,
  name: string,
  prefix: string,
  die: (before: Delayed<number>[]) => Delayed<number>,
): Promise<void> {
  const attempts = await span(name, async () => {
    const before = Array.from({ length: 20 }, () => work(0.01));
    const thrown = await client.compute([die(before), total(...before)]).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(thrown instanceof KilledWorkerError, String(thrown));
    return thrown.attempts;
  });
  assert.ok(attempts >= 2, String(attempts));
  const least = 0.3 * attempts - CLOCKS;
  await untilSeconds(client, name, prefix, 'failed', least);
  // The time of the other tasks is counted although their workers died.
  await untilSeconds(client, name, 'work', undefined, 20 * 0.01 - CLOCKS);
}

for (const processes of [false, true]) {
  describe(`on ${processes ? 'processes' : 'threads'}`, () => {
    let client: Client;
    let name = '';
    let runs = 0;

    before(async () => {
      client = await connect({ workers: 2, processes });
    });
    beforeEach(async () => {
      name = `run ${++runs}`;
      await client.compute([work(0.001), work(0.001)]);
    });
    after(() => client.close());

    test('the time of a task that throws counts as failed', async () => {
      await assert.rejects(
        span(name, () => client.compute(failAfter(0.1))),
        { code: 'ERR_LONGPOLE_TASK' },
      );
      const found = await untilSeconds(client, name, 'failAfter', 'failed', 0.1);
      assert.deepEqual(
        [...found.keys()].filter((one) => one.startsWith('thread')),
        [],
      );
    });

    const begin = {
      workUntil: (client: Client, begun: string, open: string) => client.submit(workUntil, begun, open),
      waitUntil: (client: Client, begun: string, open: string) => client.submit(waitUntil, begun, open),
    };
    for (const [prefix, submit] of Object.entries(begin)) {
      test(`the time of a cancelled task that ends by itself counts as cancelled (${prefix})`, async () => {
        await withFiles(async (begun, open) => {
          const future = span(name, () => submit(client, begun, open));
          await untilExists(begun);
          future.cancel();
          // Messages arrive in order, so a worker that answers has received the cancellation. It may also have been ended.
          await client.run(answered).catch(() => undefined);
          writeFileSync(open, '');
          const found = await untilSeconds(client, name, prefix, 'cancelled', 1e-6);
          assert.deepEqual(
            [...found.keys()].filter((one) => !['executor', 'import'].includes(one)),
            ['cancelled'],
          );
        });
      });

      test(`the time of a cancelled task whose worker is ended counts as cancelled (${prefix})`, async () => {
        await withFiles(async (begun, open) => {
          const future = span(name, () => submit(client, begun, open));
          await untilExists(begun);
          future.cancel();
          // A cancelled task has a grace period of 0.1 s.
          await untilSeconds(client, name, prefix, 'cancelled', 0.09);
        });
      });
    }

    test('a cancelled task does not change the time of another task', async () => {
      await withFiles(async (begun, open) => {
        const [cancelled, kept] = span(name, () => {
          const one = client.submit(workUntil, begun, open);
          return [one, client.submit(work, 0.3)] as const;
        });
        await untilExists(begun);
        cancelled.cancel();
        await kept.result();
        await untilSeconds(client, name, 'workUntil', 'cancelled', 0.09);
        const found = await untilSeconds(client, name, 'work', 'thread-cpu', 1e-6);
        assert.equal(found.has('cancelled'), false);
      });
    });

    test('the time of a task that exceeds its timeout counts as failed', async () => {
      await withFiles(async (begun, open) => {
        const future = span(name, () => client.submit(workUntil, begun, open, { timeout: 0.2 }));
        await assert.rejects(future.result());
        await untilSeconds(client, name, 'workUntil', 'failed', 0.2);
      });
    });

    const deadly = {
      exitAfter: (before: Delayed<number>[]) => exitAfter(0.3, before),
      killAfter: (before: Delayed<number>[]) => killAfter(0.3, before),
    };
    for (const [prefix, die] of Object.entries(deadly)) {
      if (prefix === 'killAfter' && !processes) continue;
      test(`the time of all attempts of a task that kills its workers counts as failed (${prefix})`, async () => {
        await assertDeathsCount(client, name, prefix, die);
      });
    }
  });
}

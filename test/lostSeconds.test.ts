// The time of tasks that failed, were cancelled, ran too long, or whose worker died is not lost: it counts as `failed` or
// `cancelled`, whole, and the seconds of such a run add up, too.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Client, connect, type Delayed, KilledWorkerError, span } from 'longpole';
import { lost } from './support/lostTasks.js';

const { work, workUntil, waitUntil, exitAfter, killAfter, failAfter, total, heard } = lost;

const TOLERANCE = 0.03;

/** Activity → seconds, of the tasks of this prefix (all without one) in the span. */
async function seconds(client: Client, prefix?: string, name = 'run'): Promise<Map<string, number>> {
  // Workers report for themselves, after their results.
  await client.profile();
  return client.runOnScheduler(({ scheduler }) => {
    const sums = new Map<string, number>();
    for (const [key, value] of scheduler.spans.get([name])?.cumulativeWorkerMetrics ?? []) {
      const [, of, activity = '', unit] = key;
      if (unit === 'seconds' && (prefix === undefined || of === prefix))
        sums.set(activity, (sums.get(activity) ?? 0) + value);
    }
    return sums;
  });
}

/** Milliseconds within which workers report what they have measured, also on a busy machine. */
const PATIENCE = 60_000;

/** Once the activity has at least this many seconds. */
async function untilSeconds(client: Client, prefix: string, activity: string, least: number, name = 'run') {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const found = await seconds(client, prefix, name);
    if ((found.get(activity) ?? 0) >= least) return found;
    assert.ok(performance.now() < end, `${prefix} has ${JSON.stringify([...found])}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function untilExists(path: string): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!existsSync(path)) {
    assert.ok(performance.now() < end, 'the task has not begun');
    await new Promise((resolve) => setImmediate(resolve));
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

/**
 * A program that loses its core before its first task is there, or after its last one, takes longer than the run that is
 * measured. That does not happen to so many runs in a row; what is measured wrongly is wrong in each.
 */
const ROUNDS = 5;

/** Runs a task that ends its workers after 0.3 s, beside others. What is wrong with the sums, if anything, and the figures. */
async function sumsOfDeaths(
  client: Client,
  name: string,
  prefix: string,
  die: (before: Delayed<number>[]) => Delayed<number>,
): Promise<readonly [wrong: boolean, text: string]> {
  const began = performance.now();
  const attempts = await span(name, async () => {
    const before = Array.from({ length: 20 }, () => work(0.01));
    const thrown = await client.compute([die(before), total(...before)]).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(thrown instanceof KilledWorkerError, String(thrown));
    return Number(/(\d+) times/.exec(thrown.message)?.[1]);
  });
  const offered = ((performance.now() - began) / 1000) * 2;
  assert.ok(attempts >= 2, String(attempts));
  await untilSeconds(client, prefix, 'failed', 0.3 * attempts * (1 - TOLERANCE), name);
  const found = await seconds(client, undefined, name);
  const idle = found.get('idle') ?? 0;
  const sum = [...found.values()].reduce((all, one) => all + one, 0);
  const text = `${JSON.stringify([...found])} of ${offered} thread-seconds`;
  if (process.env['LONGPOLE_SHOW'] !== undefined) console.error(prefix, text);
  // What was certainly computed is there, and there is no more than was offered.
  assert.ok(sum - idle >= (0.3 * attempts + 20 * 0.01) * (1 - TOLERANCE), text);
  assert.ok(idle >= -TOLERANCE * offered && sum <= offered * (1 + TOLERANCE), text);
  return [Math.abs(sum / offered - 1) >= TOLERANCE, text];
}

for (const processes of [false, true]) {
  describe(`on ${processes ? 'processes' : 'threads'}`, () => {
    const start = async (): Promise<Client> => {
      const client = await connect({ workers: 2, processes });
      await client.compute([work(0.001), work(0.001)]);
      return client;
    };

    test('a task that fails', async () => {
      await using client = await start();
      await assert.rejects(
        span('run', () => client.compute(failAfter(0.1))),
        { code: 'ERR_LONGPOLE_TASK' },
      );
      const found = await untilSeconds(client, 'failAfter', 'failed', 0.1);
      assert.deepEqual(
        [...found.keys()].filter((one) => one.startsWith('thread')),
        [],
      );
    });

    const begin = {
      workUntil: (client: Client, begun: string, open: string) => client.submit(workUntil, begun, open),
      waitUntil: (client: Client, begun: string, open: string) => client.submit(waitUntil, begun, open),
    };
    for (const [name, submit] of Object.entries(begin)) {
      test(`a cancelled task that ends by itself: ${name}`, async () => {
        await withFiles(async (begun, open) => {
          await using client = await start();
          const future = span('run', () => submit(client, begun, open));
          await untilExists(begun);
          future.cancel();
          // What a worker is told comes in order, so it has heard of it; or has ended meanwhile, which is the next test.
          await client.run(heard).catch(() => undefined);
          writeFileSync(open, '');
          const found = await untilSeconds(client, name, 'cancelled', 1e-6);
          assert.deepEqual(
            [...found.keys()].filter((one) => one !== 'executor'),
            ['cancelled'],
          );
        });
      });

      test(`a cancelled task whose worker is ended: ${name}`, async () => {
        await withFiles(async (begun, open) => {
          await using client = await start();
          const future = span('run', () => submit(client, begun, open));
          await untilExists(begun);
          future.cancel();
          // The moment that it has to end by itself.
          await untilSeconds(client, name, 'cancelled', 0.09);
        });
      });
    }

    test('a cancelled task among others that go on', async () => {
      await withFiles(async (begun, open) => {
        await using client = await start();
        const [cancelled, kept] = span('run', () => {
          const one = client.submit(workUntil, begun, open);
          return [one, client.submit(work, 0.3)] as const;
        });
        await untilExists(begun);
        cancelled.cancel();
        await kept.result();
        await untilSeconds(client, 'workUntil', 'cancelled', 0.09);
        const found = await untilSeconds(client, 'work', 'thread-cpu', 1e-6);
        assert.equal(found.has('cancelled'), false);
      });
    });

    test('a task that runs longer than it may', async () => {
      await withFiles(async (begun, open) => {
        await using client = await start();
        const future = span('run', () => client.submit(workUntil, begun, open, { timeout: 0.2 }));
        await assert.rejects(future.result());
        await untilSeconds(client, 'workUntil', 'failed', 0.2);
      });
    });

    const deadly = {
      exitAfter: (before: Delayed<number>[]) => exitAfter(0.3, before),
      killAfter: (before: Delayed<number>[]) => killAfter(0.3, before),
    };
    for (const [name, die] of Object.entries(deadly)) {
      if (name === 'killAfter' && !processes) continue;
      test(`a run whose workers die, by ${name}`, async () => {
        await using client = await start();
        const texts: string[] = [];
        for (let wrong = true; wrong; ) {
          assert.ok(texts.length < ROUNDS, texts.join('\n'));
          const [isWrong, text] = await sumsOfDeaths(client, `run ${texts.length}`, name, die);
          wrong = isWrong;
          texts.push(text);
        }
      });
    }
  });
}

// The decisions of `adapt`, check by check.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Adaptive, type AdaptOptions, adaptSettings } from './adaptive.js';

/** Returns an adapted cluster whose load the test sets, and the sizes to which it was scaled. */
function fake(
  options: AdaptOptions,
  size: number,
): {
  adaptive: Adaptive;
  check: (wanted: number, times?: number) => Promise<number>;
  failures: unknown[];
  fail: (error: Error | undefined) => void;
} {
  let load = 0;
  let now = size;
  let failure: Error | undefined;
  const failures: unknown[] = [];
  const workers = {
    get size() {
      return now;
    },
    wanted: () => load,
    scale: async (next: number) => {
      if (failure !== undefined) throw failure;
      now = next;
    },
    failed: (error: unknown) => void failures.push(error),
  };
  const adaptive = new Adaptive(workers, adaptSettings('adapt', options));
  const check = async (wanted: number, times = 1): Promise<number> => {
    load = wanted;
    for (let time = 0; time < times; time++) await adaptive.check();
    return now;
  };
  const fail = (error: Error | undefined): void => {
    failure = error;
  };
  return { adaptive, check, failures, fail };
}

test('workers are added at once, and leave after consecutive checks with too many', async () => {
  const { adaptive, check } = fake({ minimum: 1, maximum: 4, waitCount: 3, interval: 1000 }, 6);
  await adaptive.begin();
  assert.equal(await check(9), 4);
  assert.equal(await check(2, 2), 4);
  assert.equal(await check(4), 4);
  assert.equal(await check(2, 2), 4);
  assert.equal(await check(2), 2);
  assert.equal(await check(0, 3), 1);
  assert.equal(await check(3), 3);
  adaptive.end();
  assert.equal(await check(4), 3);
});

test('a cluster without work has no worker if the minimum is 0', async () => {
  const { adaptive, check } = fake({ minimum: 0, maximum: 2, waitCount: 1, interval: 1000 }, 2);
  await adaptive.begin();
  assert.equal(await check(0), 0);
  assert.equal(await check(1), 1);
  adaptive.end();
});

test('a failed start is reported, and the next check tries again', async () => {
  const { adaptive, check, failures, fail } = fake({ maximum: 3, interval: 1000 }, 1);
  await adaptive.begin();
  const error = new Error('no process');
  fail(error);
  assert.equal(await check(2), 1);
  assert.deepEqual(failures, [error]);
  fail(undefined);
  assert.equal(await check(2), 2);
  adaptive.end();
});

test('checks continue while a worker leaves', async () => {
  const sizes: number[] = [];
  let load = 0;
  const workers = {
    get size() {
      return sizes.at(-1) ?? 3;
    },
    wanted: () => load,
    // A worker that leaves may never end.
    scale: (size: number) => {
      const isFewer = size < workers.size;
      sizes.push(size);
      return isFewer ? new Promise<void>(() => undefined) : Promise.resolve();
    },
    failed: () => undefined,
  };
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const adaptive = new Adaptive(workers, adaptSettings('adapt', { maximum: 2, waitCount: 1 }));
    void adaptive.begin();
    mock.timers.tick(1000);
    load = 2;
    mock.timers.tick(1000);
    adaptive.end();
    assert.deepEqual(sizes, [2, 0, 2]);
  } finally {
    mock.timers.reset();
  }
});

test('the maximum may not be below the minimum', () => {
  assert.throws(
    () => adaptSettings('adapt', { minimum: 3, maximum: 2 }),
    /adapt: maximum.*at least the minimum, 3/,
  );
});

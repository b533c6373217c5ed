// Priorities on local schedulers: of the tasks of one computation, and of computations that share workers.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { annotate, compute, config, delayed, LongpoleError, literal } from 'longpole';
import { getSync } from 'longpole/local';
import { withFolder } from './support/programs.js';
import { ALL, type NamedScheduler, PARALLEL } from './support/schedulers.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const echo = <T>(value: T): T => value;
const task = (name: string) => delayed(echo).withOptions({ key: name })(name);

/** Returns a promise and the function that resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Appends a name to a file. Reports of several computations have no order, so the tasks record it. */
const note = (folder: string, name: string): void => {
  const { appendFileSync } = process.getBuiltinModule('node:fs');
  appendFileSync(`${folder}/order`, `${name} `);
};

/**
 * Make functions whose calls end when a file exists. The durations of a new function are unknown, so that one batch has a
 * chain of tasks.
 */
const HOLDS = {
  /** Blocks the thread. */
  'blocked thread': () => (folder: string, name: string) => {
    const { appendFileSync, existsSync } = process.getBuiltinModule('node:fs');
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(`${folder}/${name}`)) Atomics.wait(pause, 0, 0, 2);
    appendFileSync(`${folder}/order`, `${name} `);
  },
  /** Leaves the thread to messages of the program. */
  'awaiting task': () => async (folder: string, name: string) => {
    const { appendFileSync, existsSync, watch } = process.getBuiltinModule('node:fs');
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!existsSync(`${folder}/${name}`)) return;
        watcher.close();
        resolve();
      };
      const watcher = watch(folder, look);
      look();
    });
    appendFileSync(`${folder}/order`, `${name} `);
  },
};

/** A computation of one task, which is submitted while another computation runs. */
interface Later {
  readonly name: string;
  readonly priority?: number;
}

/** Number of tasks of the computation that runs first. */
const HELD = 8;

/**
 * Runs a chain of HELD tasks on one worker, which receives them as one batch. Submits the others during the first task. Each
 * step waits for a report of the worker, so that the messages of the other computations have arrived after some steps.
 *
 * @returns the names of all tasks in the order in which they ended
 */
async function heldOrder(
  { get }: NamedScheduler,
  hold: (folder: string, name: string) => unknown,
  priority: number,
  later: readonly Later[],
): Promise<string[]> {
  using _ = config.set({ workers: 1 });
  return await withFolder(async (folder) => {
    const names = numbers(HELD).map((index) => `held${index}`);
    const started = gate();
    let ended = gate();
    const graph = Object.fromEntries(
      names.map((name, index) => [name, [hold, literal(folder), literal(name), names[index - 1]]]),
    );
    const held = get(graph, names, {
      numWorkers: 1,
      priority,
      callbacks: { pretask: () => started.open(), posttask: () => ended.open() },
    });
    await started.opened;
    const others = await Promise.all(later.map((other) => submitted(get, folder, other)));
    for (const name of names) {
      ended = gate();
      writeFileSync(join(folder, name), '');
      await ended.opened;
    }
    await Promise.all([held, ...others.map(({ result }) => result)]);
    return readFileSync(join(folder, 'order'), 'utf8').trim().split(' ');
  });
}

/** Starts a computation. Resolves when its batch has been sent. */
async function submitted(
  get: NamedScheduler['get'],
  folder: string,
  { name, ...options }: Later,
): Promise<{ readonly result: Promise<unknown> }> {
  const started = gate();
  const result = get({ [name]: [note, literal(folder), literal(name)] }, name, {
    ...options,
    numWorkers: 1,
    callbacks: { start: () => started.open() },
  });
  await started.opened;
  return { result };
}

for (const scheduler of ALL) {
  test(`${scheduler.name} runs tasks of a higher priority first`, async () => {
    const low = annotate({ priority: -1 }, () => numbers(6).map((index) => task(`low${index}`)));
    const plain = numbers(6).map((index) => task(`plain${index}`));
    const between = annotate({ priority: 3 }, () => task('between'));
    const high = annotate({ priority: 9.5 }, () => numbers(6).map((index) => task(`high${index}`)));
    const order: string[] = [];
    const results = await compute([...low, ...plain, between, ...high], {
      get: scheduler.get,
      numWorkers: 1,
      priority: 2,
      callbacks: { posttask: (key: string) => void order.push(key) },
    });
    assert.equal(results.length, 19);
    const groups = order.map((name) => name.replace(/\d+$/, ''));
    assert.deepEqual(
      groups.filter((name, index) => name !== groups[index - 1]),
      ['high', 'between', 'plain', 'low'],
    );
  });
}

for (const scheduler of PARALLEL) {
  for (const [where, makeHold] of Object.entries(HOLDS)) {
    test(`${scheduler.name} runs a more urgent computation before the rest of a batch (${where})`, async () => {
      const order = await heldOrder(scheduler, makeHold(), 0, [
        { name: 'low', priority: -1 },
        { name: 'high', priority: 1 },
      ]);
      // Without priorities, both would run after the batch.
      assert.ok(order.indexOf('high') < 4, order.join());
      assert.equal(order.at(-1), 'low');
    });

    test(`${scheduler.name} runs queued computations by priority, not by arrival (${where})`, async () => {
      const later = [{ name: 'low', priority: -1 }, { name: 'plain' }, { name: 'high', priority: 1 }];
      const order = await heldOrder(scheduler, makeHold(), 2, later);
      assert.deepEqual(order.slice(HELD), ['high', 'plain', 'low']);
    });
  }
}

test('a priority does not move a computation to a cluster', async () => {
  using _ = config.set({ scheduler: 'sync' });
  const ran: string[] = [];
  const here = delayed((name: string) => void ran.push(name));
  await compute(here('option'), { priority: 1 });
  await annotate({ priority: 1 }, () => here('block')).compute();
  await compute(
    annotate({ priority: 1 }, () => here('get')),
    { get: getSync, priority: 2 },
  );
  assert.deepEqual(ran, ['option', 'block', 'get']);
});

test('other options of a block still need a cluster', async () => {
  const one = annotate({ priority: 1, retries: 1 }, () => task('one'));
  for (const options of [{ scheduler: 'sync' } as const, { get: getSync }])
    await assert.rejects(one.compute(options), (error) => {
      assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT');
      return /annotate\(\{ retries \}\) needs a cluster/.test(error.message);
    });
});

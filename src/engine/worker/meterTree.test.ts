import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { contextMeter } from './contextMeter.js';
import { bench, pass, runTimers, sleep, total, useFakeClock } from './contextMeter.test.support.js';

beforeEach(useFakeClock);
afterEach(() => mock.restoreAll());

/** Waits in a block with `using`. */
async function inBlock(label: string, seconds: number): Promise<void> {
  using _meter = contextMeter.meter(label);
  await sleep(seconds);
}

/** Waits in a function with a meter. */
function inCall(label: string, seconds: number): Promise<void> {
  return contextMeter.meter(label, () => sleep(seconds))();
}

/** Runs a task on the fake clock, and returns its seconds by label, in whole milliseconds. */
async function seconds(body: () => Promise<unknown>): Promise<Record<string, number>> {
  const fixture = bench();
  const done = fixture.runAsync(fixture.metering.kind('task'), body);
  await runTimers();
  await done;
  const sums = fixture.sums('task');
  assert.ok(Math.abs(total(sums) - fixture.wall) < 1e-9, `${total(sums)} s of ${fixture.wall} s`);
  const rounded = Object.entries(sums).map(([label, value]) => [label, Math.round(value * 1000)]);
  return Object.fromEntries(rounded.filter(([, value]) => value !== 0));
}

for (const [form, wait] of Object.entries({ inBlock, inCall })) {
  test(`${form}: meters that a task awaits together share the time equally`, async () => {
    assert.deepEqual(await seconds(() => Promise.all([wait('a', 1), wait('b', 1)])), { a: 500, b: 500 });
    assert.deepEqual(await seconds(() => Promise.all([wait('a', 1), wait('b', 3)])), { a: 500, b: 2500 });
    assert.deepEqual(await seconds(() => Promise.all([wait('a', 3), wait('b', 1)])), { a: 2500, b: 500 });
    const three = await seconds(() => Promise.all([wait('a', 3), wait('b', 3), wait('c', 3)]));
    assert.deepEqual(three, { a: 1000, b: 1000, c: 1000 });
  });

  test(`${form}: a meter around a function with a meter has only the rest of the time`, async () => {
    const nested = async (): Promise<void> => {
      using _outer = contextMeter.meter('outer');
      await wait('inner', 2);
      await sleep(1);
    };
    assert.deepEqual(await seconds(nested), { inner: 2000, outer: 1000 });
    const later = async (): Promise<void> => {
      using _outer = contextMeter.meter('outer');
      await sleep(1);
      await wait('inner', 2);
    };
    assert.deepEqual(await seconds(later), { inner: 2000, outer: 1000 });
  });

  test(`${form}: meters side by side inside another one share its time`, async () => {
    const outer = async (): Promise<void> => {
      using _outer = contextMeter.meter('outer');
      await Promise.all([wait('a', 2), wait('b', 2)]);
      await sleep(1);
    };
    assert.deepEqual(await seconds(outer), { a: 1000, b: 1000, outer: 1000 });
  });

  test(`${form}: after meters side by side, the task has its own time again`, async () => {
    const task = async (): Promise<void> => {
      await Promise.all([wait('a', 1), wait('b', 2)]);
      await sleep(1);
      await wait('c', 1);
    };
    assert.deepEqual(await seconds(task), {
      a: 500,
      b: 1500,
      c: 1000,
      'thread-cpu': 500,
      'thread-noncpu': 500,
    });
  });
}

test('a block and a call side by side share the time, in either order', async () => {
  assert.deepEqual(await seconds(() => Promise.all([inBlock('a', 1), inCall('b', 1)])), { a: 500, b: 500 });
  assert.deepEqual(await seconds(() => Promise.all([inCall('a', 1), inBlock('b', 1)])), { a: 500, b: 500 });
});

test('nested blocks side by side share the time of their innermost meters', async () => {
  const nested = async (outer: string, inner: string): Promise<void> => {
    using _outer = contextMeter.meter(outer);
    await inBlock(inner, 2);
    await sleep(2);
  };
  const sums = await seconds(() => Promise.all([nested('a', 'b'), nested('c', 'd')]));
  assert.deepEqual(sums, { a: 1000, b: 1000, c: 1000, d: 1000 });
});

test('blocks in two branches of one function are side by side', async () => {
  const branch = async (even: boolean): Promise<void> => {
    if (even) {
      using _meter = contextMeter.meter('even');
      await sleep(1);
    } else {
      using _meter = contextMeter.meter('odd');
      await sleep(1);
    }
  };
  assert.deepEqual(await seconds(() => Promise.all([branch(true), branch(false)])), { even: 500, odd: 500 });
});

test('a block without an await has its time alone', async () => {
  const compute = async (): Promise<void> => {
    using _meter = contextMeter.meter('compute');
    pass(1);
  };
  assert.deepEqual(await seconds(() => Promise.all([inBlock('wait', 3), compute()])), {
    compute: 1000,
    wait: 2000,
  });
});

test('a meter that loses a race ends with the task', async () => {
  const sums = await seconds(() => Promise.race([inBlock('loser', 3), inBlock('winner', 1)]));
  assert.deepEqual(sums, { loser: 500, winner: 500 });
});

test('an inner meter in a loop does not count for the outer one', async () => {
  const loop = async (): Promise<void> => {
    using _outer = contextMeter.meter('outer');
    for (let index = 0; index < 2000; index++) await inBlock('inner', 1e-3);
    await sleep(1);
  };
  assert.deepEqual(await seconds(loop), { inner: 2000, outer: 1000 });
});

test('many blocks side by side share the time by label', async () => {
  const all = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 4000 }, (_, index) => inBlock(index % 4 === 0 ? 'a' : 'b', 4)));
  assert.deepEqual(await seconds(all), { a: 1000, b: 3000 });
});

interface Step {
  readonly form: 'block' | 'call' | 'together' | 'sleep';
  readonly steps: readonly Step[];
}

function steps(depth: number): fc.Arbitrary<Step> {
  return fc.record({
    form: fc.constantFrom('block', 'call', 'together', 'sleep'),
    steps: depth === 0 ? fc.constant([]) : fc.array(steps(depth - 1), { maxLength: 3 }),
  });
}

async function perform({ form, steps: inner }: Step): Promise<void> {
  const body = async (): Promise<void> => {
    if (form === 'together') await Promise.all(inner.map(perform));
    else for (const step of inner) await perform(step);
    await sleep(1e-3);
  };
  if (form === 'call') return contextMeter.meter(form, body)();
  if (form !== 'block') return body();
  using _meter = contextMeter.meter(form);
  await body();
}

test('with any meters in sequence, nested and side by side, the seconds of a task add up to its wall time', async () => {
  const property = fc.asyncProperty(steps(3), async (step) => {
    const sums = await seconds(() => perform(step));
    assert.ok(Object.values(sums).every((each) => each >= 0));
  });
  await fc.assert(property, { numRuns: 50 });
});

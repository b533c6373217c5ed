import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Computation } from '../../protocol/clusterObserver.js';
import { taskKinds } from '../../protocol/metrics.js';
import { computationOf } from './observed.test.support.js';
import { TaskKindIndex } from './taskKindIndex.js';

const ALICE = ['Alice'];
const BOB = ['Bob'];

/** An index with a clock, and the computations that were added to it. */
class Setting {
  now = 1000;
  readonly index: TaskKindIndex;
  #nextId = 0;

  constructor(cycle: number | undefined) {
    this.index = new TaskKindIndex(() => this.now, cycle);
  }

  /** Adds a computation with two tasks, in the spans of Alice and Bob. */
  add(): Computation {
    const computation = { ...computationOf([ALICE, BOB]), firstId: this.#nextId };
    this.#nextId += computation.size;
    this.index.added(computation, taskKinds(computation));
    return computation;
  }

  forget(): Computation {
    const computation = this.add();
    this.index.forgotten(computation);
    return computation;
  }

  spansOf({ firstId, size }: Computation): (readonly string[] | undefined)[] {
    return Array.from({ length: size }, (_, id) => this.index.kindOf(firstId + id)?.span);
  }
}

test('the kinds of a forgotten computation are known for a cycle and the time of a late report', () => {
  const setting = new Setting(2);
  const present = setting.add();
  const early = setting.forget();
  setting.now += 7;
  const late = setting.forget();
  assert.deepEqual(
    [present, early, late].map((one) => setting.spansOf(one)),
    Array(3).fill([ALICE, BOB]),
  );
  setting.now += 8;
  const last = setting.forget();
  assert.deepEqual(
    [present, early, late, last].map((one) => setting.spansOf(one)),
    [
      [ALICE, BOB],
      [undefined, undefined],
      [undefined, undefined],
      [ALICE, BOB],
    ],
  );
});

test('the number of remembered computations depends on their rate and not on the time', () => {
  const setting = new Setting(1);
  let most = 0;
  for (let time = 0; time < 5000; time++) {
    setting.now += 0.1;
    setting.forget();
    most = Math.max(most, setting.index.size);
  }
  // The index keeps the computations of six seconds, and is swept every six seconds: 60 to 120 computations.
  assert.ok(most >= 60 && most <= 122, `${most} computations`);
});

test('at most 10,000 computations are remembered that were forgotten at one time', () => {
  const setting = new Setting(1);
  const present = setting.add();
  const forgotten = Array.from({ length: 10_000 }, () => setting.forget());
  assert.equal(setting.index.size, 10_001);
  const last = setting.forget();
  assert.ok(setting.index.size <= 5002, `${setting.index.size} computations`);
  assert.deepEqual(setting.spansOf(forgotten[0]!), [undefined, undefined]);
  for (const one of [present, last]) assert.deepEqual(setting.spansOf(one), [ALICE, BOB]);
});

test('without a profiler nothing is kept', () => {
  const setting = new Setting(undefined);
  const present = setting.add();
  setting.forget();
  assert.equal(setting.index.size, 0);
  assert.deepEqual(setting.spansOf(present), [undefined, undefined]);
});

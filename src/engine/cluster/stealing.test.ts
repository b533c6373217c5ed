import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stealing, type TakenBack } from './stealing.js';

function asked(runs: readonly number[]) {
  const told: (readonly TakenBack[])[] = [];
  const questions: number[] = [];
  const stealing = new Stealing((taken) => told.push(taken));
  stealing.ask(
    runs.map((run) => ({ run, ids: Int32Array.of(1, 2) })),
    (run) => questions.push(run),
  );
  return { stealing, told, questions };
}

test('what is taken back of several computations is told once, when all have answered', () => {
  const { stealing, told, questions } = asked([7, 8, 9]);
  assert.deepEqual(questions, [7, 8, 9]);
  stealing.answered(8, [2]);
  stealing.answered(7, []);
  assert.deepEqual(told, []);
  stealing.answered(9, [1, 2]);
  assert.deepEqual(told, [
    [
      { run: 8, ids: [2] },
      { run: 7, ids: [] },
      { run: 9, ids: [1, 2] },
    ],
  ]);
});

test('a host that answers at once is heard once', () => {
  const told: (readonly TakenBack[])[] = [];
  const stealing = new Stealing((taken) => told.push(taken));
  const parts = [1, 2].map((run) => ({ run, ids: Int32Array.of(0) }));
  stealing.ask(parts, (run) => stealing.answered(run, [0]));
  assert.equal(told.length, 1);
  assert.equal(told[0]?.length, 2);
});

test('where nothing is left to be asked for, that is the answer', () => {
  assert.deepEqual(asked([]).told, [[]]);
});

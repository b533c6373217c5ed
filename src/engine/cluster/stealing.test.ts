import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stealing, type TakenBack } from './stealing.js';

function requested(runs: readonly number[]) {
  const reports: (readonly TakenBack[])[] = [];
  const requests: number[] = [];
  const stealing = new Stealing((taken) => reports.push(taken));
  stealing.ask(
    runs.map((run) => ({ run, ids: Int32Array.of(1, 2) })),
    (run) => requests.push(run),
  );
  return { stealing, reports, requests };
}

test('tasks taken back from several computations are reported once, after the last answer', () => {
  const { stealing, reports, requests } = requested([7, 8, 9]);
  assert.deepEqual(requests, [7, 8, 9]);
  stealing.answered(8, [2]);
  stealing.answered(7, []);
  assert.deepEqual(reports, []);
  stealing.answered(9, [1, 2]);
  assert.deepEqual(reports, [
    [
      { run: 8, ids: [2] },
      { run: 7, ids: [] },
      { run: 9, ids: [1, 2] },
    ],
  ]);
});

test('a host that answers synchronously causes one report', () => {
  const reports: (readonly TakenBack[])[] = [];
  const stealing = new Stealing((taken) => reports.push(taken));
  const parts = [1, 2].map((run) => ({ run, ids: Int32Array.of(0) }));
  stealing.ask(parts, (run) => stealing.answered(run, [0]));
  assert.equal(reports.length, 1);
  assert.equal(reports[0]?.length, 2);
});

test('tasks that a replaced isolate gave back are not reported, because they are sent again', () => {
  const { stealing, reports } = requested([7, 8]);
  stealing.answered(7, [2]);
  stealing.restarted();
  stealing.answered(8, []);
  assert.deepEqual(reports, [[{ run: 8, ids: [] }]]);
});

test('a request without tasks is reported as empty', () => {
  assert.deepEqual(requested([]).reports, [[]]);
});

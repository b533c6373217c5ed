import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transfer } from '../protocol/clusterObserver.js';
import { completionColumns } from '../protocol/completionLog.js';
import { epochSeconds } from '../resources/clock.js';
import { ProgramCopies } from './programCopies.js';

const NO_IDS = new Int32Array(0);
const NOTHING = new Map<number, unknown>();

/** Sends large arguments to a worker that is ready `ready` seconds after they were packed, and receives them 2 s after. */
function firstTransfer(ready: number) {
  const transfers: Transfer[] = [];
  const copies = new ProgramCopies(['a'], (transfer) => transfers.push(transfer));
  const ids = Int32Array.of(0);
  const values = { ids, values: [new Uint8Array(100e6)] };
  const nothing = { ids: NO_IDS, values: [] };
  const batch = {
    ids,
    inputs: values,
    constants: nothing,
    publish: new Uint8Array(1),
    keep: NO_IDS,
    gather: [],
  };
  copies.send(3, { type: 'batch', run: 0, batch: 1, ...batch }, () => {
    for (const start = epochSeconds(); epochSeconds() < start + 0.02; );
  });
  const packed = epochSeconds();
  const columns = completionColumns(1);
  columns.count = 1;
  columns.received[0] = packed + 2;
  columns.starts[0] = packed + 3;
  columns.stops[0] = packed + 4;
  copies.received(3, packed + ready, columns, NOTHING);
  assert.equal(transfers.length, 1);
  assert.equal(transfers[0]?.worker, 3);
  return transfers[0]!.stop - packed;
}

/** Returns the keys of a slow transfer to a worker: its task `c` takes the result of `a`, and an argument of the program. */
function keysOfTransfer(resultBytes: number, argumentBytes: number): readonly string[] {
  const transfers: Transfer[] = [];
  const copies = new ProgramCopies(['a', 'b', 'c'], (transfer) => transfers.push(transfer));
  const ids = Int32Array.of(2);
  const batch = {
    ids,
    inputs: { ids: [0], values: [new Uint8Array(resultBytes)] },
    constants: { ids: [0], values: [new Uint8Array(argumentBytes)] },
    publish: new Uint8Array(1),
    keep: NO_IDS,
    gather: [],
  };
  copies.send(1, { type: 'batch', run: 0, batch: 1, ...batch }, () => {
    for (const start = epochSeconds(); epochSeconds() < start + 0.02; );
  });
  const columns = completionColumns(1);
  columns.count = 1;
  columns.ids[0] = 2;
  copies.received(1, 0, columns, NOTHING);
  assert.deepEqual(
    transfers.map(({ nbytes }) => nbytes),
    [resultBytes + argumentBytes],
  );
  return transfers[0]!.keys;
}

test('a transfer to a worker names the results that it passes on, or else the first task that takes its arguments', () => {
  assert.deepEqual(keysOfTransfer(2e6, 1e6), ['a']);
  assert.deepEqual(keysOfTransfer(1e6, 2e6), ['c']);
});

test('the first arguments of a worker that had started arrive when it receives the task', () => {
  assert.equal(Math.round(firstTransfer(-1) * 1000), 2000);
});

test('if the worker was still starting, only the time in which they were packed counts', () => {
  assert.ok(firstTransfer(1) <= 0);
  assert.ok(firstTransfer(Number.NaN) <= 0);
});

// Transfers of local schedulers: what the program's thread copies.
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { recordsTransfers } from '../analysis/programTransfers.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace/trace.js';
import { type Graph, getMultiprocessing, getThreaded, terminateSharedPools } from './local.js';
import { observeProgram } from './observeProgram.js';

after(() => terminateSharedPools());

const make = (count: number): unknown => Array.from({ length: count }, (_, row) => ({ row, text: `${row}` }));
const count = (rows: readonly unknown[]): number => rows.length;

async function traceOf(body: () => Promise<unknown>): Promise<Trace> {
  const live = new LiveTrace();
  const stop = observeProgram(live);
  await body().finally(stop);
  return live.snapshot();
}

/** Returns the kind, direction and keys of each transfer of the program. */
const copies = ({ transfers, keys }: Trace): string[] =>
  Array.from({ length: transfers.length }, (_, row) => {
    const kind = `${TRANSFER_KINDS[transfers.what[row]!]} ${DIRECTIONS[transfers.direction[row]!]}`;
    const of = transfers.keys.subarray(transfers.keyOffsets[row], transfers.keyOffsets[row + 1]);
    assert.equal(transfers.peer[row], -1);
    return `${kind}: ${Array.from(of, (key) => keys.get(key)).join()}`;
  });

for (const [name, get] of Object.entries({ getThreaded, getMultiprocessing })) {
  // No machine copies that many objects in 5 ms.
  const many = 100_000;

  it(`${name}: large arguments and results are transfers of the program`, async () => {
    const graph: Graph = { 'make-1': [make, many], 'count-1': [count, make(many)] };
    const trace = await traceOf(() => get(graph, ['make-1', 'count-1'], { numWorkers: 2 }));
    // A stolen task is sent twice.
    assert.deepEqual([...new Set(copies(trace))].sort(), [
      'gather outgoing: make-1',
      'scatter incoming: count-1',
    ]);
    const { length, nbytes, compressed, start, stop } = trace.transfers;
    for (let row = 0; row < length; row++) {
      assert.ok(nbytes[row]! > 1e6 && compressed[row] === 0);
      assert.ok(stop[row]! - start[row]! >= 5e-3);
    }
    // Results that workers exchange are not among them.
    assert.equal(recordsTransfers(trace), false);
  });

  it(`${name}: small arguments and results are not`, async () => {
    const graph: Graph = { 'count-1': [count, make(10)], 'make-1': [make, 10] };
    const trace = await traceOf(() => get(graph, ['make-1', 'count-1'], { numWorkers: 2 }));
    assert.deepEqual(copies(trace), []);
  });
}

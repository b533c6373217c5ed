import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { plainTables } from '../plainTables.js';
import { syntheticTrace } from '../syntheticTrace.test.support.js';
import { NO_ROWS, type Trace } from '../trace.js';
import { packColumns, unpackColumns } from './packedColumns.js';
import { decodeReport, encodeReport } from './reportBytes.js';
import { encodeTables } from './traceEncoder.js';

const time = fc.double({ min: 1.7e9, max: 1.7e9 + 100, noNaN: true });
const task = fc.record(
  {
    prefix: fc.constantFrom('inc', "('sum-ab'", 'größe'),
    worker: fc.constantFrom('w0', 'w1'),
    started: time,
    duration: fc.double({ min: 0, max: 3, noNaN: true }),
    nbytes: fc.nat(),
    state: fc.constantFrom('memory', 'erred', 'lost'),
    needs: fc.boolean(),
  },
  { noNullPrototype: true },
);
const trace = fc.array(task, { maxLength: 40 }).map((list) => {
  const first = { key: 'first-0', worker: 'w0', started: 1.7e9, duration: 1, nbytes: 8, needs: [] };
  const tasks = [
    first,
    ...list.map(({ prefix, needs, ...one }, i) => ({
      ...one,
      key: `${prefix}-${i}`,
      needs: needs ? ['first-0'] : [],
    })),
  ];
  return syntheticTrace({
    tasks: tasks.map(({ duration, ...one }) => ({ ...one, stopped: one.started + duration })),
    memory: tasks.map(({ worker, started, nbytes }) => ({ worker, time: started, managed: nbytes })),
    resources: tasks.map(({ started }) => ({
      time: started,
      figures: { cpu: 50, own_figure: 3, time: started },
    })),
    transfers: tasks.map(({ worker, key, started, nbytes }) => ({
      worker,
      keys: [key, 'first-0'],
      nbytes,
      start: started,
      stop: started + 1,
    })),
    intervals: tasks.map(({ worker, started }) => ({
      worker,
      action: 'serialize',
      start: started,
      stop: started,
    })),
    metrics: tasks.map(({ worker, started }) => ({
      time: started,
      worker,
      activity: 'thread-cpu',
      value: 0.5,
    })),
    events: [{ time: 1.7e9, topic: 'log', text: '<b>x</b>' }],
  });
});

const rows = (one: Trace) =>
  plainTables(one).map(({ name, length, columns }) => ({
    name,
    cells: columns.map(({ title, cell }) => [title, Array.from({ length }, (_, row) => cell(row))]),
  }));

describe('a report', () => {
  it('contains every cell of a trace and its totals', () => {
    fc.assert(
      fc.property(trace, (one) => {
        const {
          trace: back,
          title,
          facts,
        } = decodeReport(encodeReport(one, { title: 't', facts: { Node: 'v' } }));
        assert.deepEqual([title, facts], ['t', { Node: 'v' }]);
        // The comparison includes derived columns: function names, and the hosts of samples.
        assert.deepEqual(rows(back), rows(one));
        assert.deepEqual(back.totals, one.totals);
      }),
      { numRuns: 60 },
    );
  });

  it('of an earlier version keeps its counts of evicted rows', () => {
    const [one] = fc.sample(trace, { numRuns: 1, seed: 4 });
    const evicted = { ...NO_ROWS, tasks: 7 };
    const bytes = encodeReport({ ...one!, evicted }, { title: '', facts: {} });
    const earlier = Buffer.from(bytes).toString('latin1').replace('"evicted":', '"letGo"  :');
    assert.deepEqual(decodeReport(Buffer.from(earlier, 'latin1')).trace.evicted, evicted);
  });

  it('keeps what could not be read of the file from which it was made', () => {
    const [one] = fc.sample(trace, { numRuns: 1, seed: 4 });
    const damage = { stretches: 2, bytes: 12, offset: 100, reason: 'the record is not a map' };
    const back = decodeReport(encodeReport({ ...one!, damage }, { title: '', facts: {} })).trace;
    assert.deepEqual(back.damage, damage);
  });

  it('packs streams and unpacks them bit for bit', () => {
    fc.assert(
      fc.property(trace, (one) => {
        for (const bytes of encodeTables(one).values()) {
          const packed = bytes.slice();
          const ways = packColumns(packed);
          unpackColumns(packed, ways);
          assert.deepEqual(packed, bytes);
        }
      }),
    );
  });

  it('opens or is rejected if it is damaged', () => {
    const whole = encodeReport(fc.sample(trace, { numRuns: 1, seed: 4 })[0]!, { title: '', facts: {} });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 }), fc.nat(400), (flips, cut) => {
        const bytes = whole.slice(0, whole.length - cut);
        for (const [at, value] of flips) bytes[at % bytes.length] = value;
        try {
          rows(decodeReport(bytes).trace);
        } catch (error) {
          assert.ok(error instanceof Error && 'code' in error, String(error));
          assert.match(String(error.code), /^ERR_LONGPOLE_TRACE_/);
        }
      }),
      { numRuns: 150 },
    );
  });
});

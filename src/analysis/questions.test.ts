// Each question about a trace with a known answer, and all questions about traces without the needed data.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { type SyntheticSpec, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { QUESTIONS } from './questions.js';
import { stragglersOf } from './stragglers.js';
import type { Row } from './table.js';
import { TimeBins } from './timeBins.js';

function ask(name: string, spec: SyntheticSpec): readonly Row[] {
  const question = QUESTIONS.find((one) => one.name === name);
  assert.ok(question !== undefined, `no question ${name}`);
  return question.run(syntheticTrace(spec)).rows;
}

const cells =
  (...titles: string[]) =>
  (row: Row) =>
    titles.map((title) => row[title]);

const TWO_WORKERS: SyntheticSpec = {
  tasks: [
    {
      key: 'load-1',
      started: 1,
      stopped: 3,
      worker: 'a',
      nbytes: 2e6,
      resultType: 'Float64Array',
      submitted: 0,
      dispatched: 0.25,
      received: 0.5,
    },
    {
      key: 'load-2',
      started: 1,
      stopped: 2,
      worker: 'b',
      nbytes: 4e6,
      resultType: 'Float64Array',
      submitted: 0,
      dispatched: 0.5,
      received: 1,
    },
    {
      key: 'add-1',
      started: 6,
      stopped: 10,
      worker: 'a',
      needs: ['load-1', 'load-2'],
      submitted: 0,
      acknowledged: 10,
    },
  ],
  transfers: [
    { worker: 'a', peer: 'b', keys: ['load-2'], nbytes: 4e6, start: 3, stop: 5 },
    {
      worker: 'b',
      peer: 'a',
      direction: 'outgoing',
      what: 'get-data',
      keys: ['load-2'],
      nbytes: 4e6,
      start: 3,
      stop: 5,
    },
    { worker: 'b', what: 'scatter', nbytes: 1e6, start: 0, stop: 1 },
  ],
  intervals: [{ worker: 'a', action: 'transfer', start: 3, stop: 5, task: 'add-1', nbytes: 4e6 }],
};

describe('questions', () => {
  it('answer time by prefix and by action', () => {
    assert.deepEqual(
      ask('time-by-prefix', TWO_WORKERS).map(
        cells('Prefix', 'Duration (s)', 'Tasks', 'Mean (s)', 'Results (MB)'),
      ),
      [
        ['add', 4, 1, 4, 0],
        ['load', 3, 2, 1.5, 6],
      ],
    );
    assert.deepEqual(
      ask('time-by-action', TWO_WORKERS).map(
        cells('Action', 'Duration (s)', 'Share of worker time (%)', 'Size (MB)', 'Throughput (MB/s)'),
      ),
      [
        ['compute', 7, 35, 6, null],
        ['transfer', 2, 10, 4, 2],
      ],
    );
  });

  it('answer queueing', () => {
    const rows = ask('queueing', TWO_WORKERS);
    assert.deepEqual(rows.flatMap(cells('Prefix')), ['add', 'load']);
    assert.deepEqual(
      [
        rows[1]?.['Queued at scheduler (s)'],
        rows[1]?.['Sent to worker (s)'],
        rows[1]?.['Queued at worker (s)'],
        rows[1]?.['Waited in all (s)'],
      ],
      [0.375, 0.375, 0.25, 2],
    );
  });

  it('answer the balance of workers', () => {
    assert.deepEqual(
      ask('worker-balance', TWO_WORKERS).map(
        cells('Worker', 'Tasks', 'Computed (s)', 'Idle (s)', 'Last task ended (s)', 'Other work (s)'),
      ),
      [
        ['a', 2, 6, 4, 10, 2],
        ['b', 1, 1, 9, 2, 0],
      ],
    );
  });

  it('answer transfers', () => {
    assert.deepEqual(
      ask('transfers-by-pair', TWO_WORKERS).map(cells('From', 'To', 'Size (MB)', 'Bandwidth (MB/s)')),
      [
        ['b', 'a', 4, 2],
        ['client', 'b', 1, 1],
      ],
    );
    assert.deepEqual(
      ask('transfers-by-type', TWO_WORKERS).map(
        cells('Type', 'Kind', 'Results', 'Size (MB)', 'Duration (s)'),
      ),
      [
        ['Float64Array', 'gather-dep', 1, 4, 2],
        [null, 'scatter', 1, 1, 1],
      ],
    );
  });

  it('answer memory over time', () => {
    const rows = ask('memory-by-prefix', TWO_WORKERS);
    const at = (time: number) => rows.find((row) => Math.abs(Number(row['Time (s)']) - time) < 1e-9);
    assert.equal(rows.length, 50);
    assert.equal(at(1)?.['All (MB)'], 0);
    assert.ok(Math.abs(Number(at(2.4)?.['load (MB)']) - 4) < 1e-9);
    assert.ok(Math.abs(Number(at(8)?.['load (MB)']) - 6) < 1e-9);
  });

  it('answer memory with results that futures hold after their last use', () => {
    const memory = [0, 5, 9].map((time) => ({ worker: 'w', time, managed: time === 0 ? 0 : 50e6, tasks: 1 }));
    const tasks = [
      { key: 'load-1', worker: 'w', started: 0, stopped: 1, submitted: 0, nbytes: 50e6 },
      {
        key: 'sum-1',
        worker: 'w',
        started: 1,
        stopped: 4,
        submitted: 0,
        nbytes: 8,
        needs: ['load-1'],
      },
      { key: 'wait-1', worker: 'w', started: 4, stopped: 10, submitted: 0, nbytes: 8 },
    ];
    const rows = ask('memory-by-prefix', { memory, tasks });
    const at = (time: number) => rows.find((row) => Math.abs(Number(row['Time (s)']) - time) < 0.11);
    assert.equal(Math.round(Number(at(3)?.['load (MB)'])), 50);
    assert.equal(Math.round(Number(at(3)?.['Only futures hold (MB)'])), 0);
    assert.equal(Math.round(Number(at(8)?.['load (MB)'])), 0);
    assert.equal(Math.round(Number(at(8)?.['Only futures hold (MB)'])), 50);
  });

  it('answer memory without results that were lost and computed again, from then on', () => {
    const load = { key: 'load-1', submitted: 0, nbytes: 50e6 };
    const tasks = [
      { ...load, worker: 'gone', started: 0, stopped: 1 },
      { ...load, worker: 'w', started: 5, stopped: 6, ready: 4, attempt: 2 },
      { key: 'wait-1', worker: 'w', started: 6, stopped: 10, submitted: 0, nbytes: 8 },
    ];
    const rows = ask('memory-by-prefix', { tasks, workers: [{ name: 'gone', stopped: 4 }] });
    const at = (time: number) => rows.find((row) => Math.abs(Number(row['Time (s)']) - time) < 0.11);
    const megabytes = (time: number) => Math.round(Number(at(time)?.['load (MB)']));
    assert.deepEqual([3, 5, 8].map(megabytes), [50, 0, 50]);
  });

  it('answer memory with results that were lost with their worker', () => {
    const memory = [0, 1].map((time) => ({ worker: 'gone', time, managed: 50e6 * time, tasks: time }));
    const tasks = [
      { key: 'load-1', worker: 'gone', started: 0, stopped: 1, submitted: 0, nbytes: 50e6 },
      { key: 'sum-1', worker: 'gone', started: 1, stopped: 2, submitted: 0, nbytes: 8, needs: ['load-1'] },
      { key: 'wait-1', worker: 'w', started: 2, stopped: 10, submitted: 0, nbytes: 8 },
    ];
    const kept = (stopped: number) =>
      ask('memory-by-prefix', { memory, tasks, workers: [{ name: 'gone', stopped }] })
        .filter((row) => Number(row['Time (s)']) > 4.1)
        .map((row) => Math.round(Number(row['Only futures hold (MB)'])));
    assert.deepEqual(new Set(kept(4)), new Set([0]));
    assert.deepEqual(new Set(kept(Number.NaN)), new Set([50]));
  });

  it('answer the results of each worker, for long runs in longer intervals', () => {
    const balance = (last: number, workers = 1) =>
      ask('task-balance', {
        memory: Array.from({ length: workers }, (_, i) =>
          [0, last].map((time) => ({ worker: `w${i}`, time, managed: 1, tasks: 1 })),
        ).flat(),
      });
    const TITLE = 'Time Interval (seconds from begin)';
    for (const [last, rows, interval] of [
      [9999.5, 10_000, 1],
      [10_000, 5001, 2],
      [20_000, 4001, 5],
      [1_000_000, 5001, 200],
    ] as const) {
      const table = balance(last);
      assert.equal(table.length, rows, `${last} s`);
      assert.equal(table[1]?.[TITLE], interval);
      assert.equal(table.at(-1)?.['w0'], 1);
    }
    assert.equal(balance(1_000_000, 60).length, 5001);
    assert.ok(balance(1e300).length <= 10_000);
  });

  it('answer concurrency', () => {
    const rows = ask('concurrency', TWO_WORKERS);
    const at = (time: number) => rows.find((row) => Math.abs(Number(row['Time (s)']) - time) < 1e-9);
    assert.deepEqual(
      [at(1.4), at(4), at(8)]
        .flatMap((row) => cells('Running')(row ?? {}))
        .map((n) => Math.round(Number(n) * 1e9) / 1e9),
      [2, 0, 1],
    );
    assert.equal(Math.round(Number(at(0.4)?.['Ready and waiting'])), 2);
    assert.equal(Math.round(Number(at(4)?.['Ready and waiting'])), 1);
    assert.equal(Math.round(Number(at(8)?.['Busy (%)'])), 50);
  });

  it('answer stragglers and their differences', () => {
    const tasks = Array.from({ length: 20 }, (_, i) => ({
      key: `fit-${i}`,
      started: i,
      stopped: i + 1,
      needs: [`in-${i}`],
    }));
    const inputs = tasks.map(({ needs }, i) => ({
      key: needs[0] ?? '',
      started: 0,
      stopped: 0,
      nbytes: i === 7 ? 8e6 : 1e6,
    }));
    tasks[7] = { ...tasks[7]!, stopped: 13 };
    tasks[9] = { ...tasks[9]!, stopped: 14 };
    const spec: SyntheticSpec = {
      tasks: [...inputs, ...tasks],
      intervals: [{ worker: 'w0', action: 'gc', start: 10, stop: 13.5 }],
    };
    const rows = ask('stragglers', spec);
    assert.deepEqual(rows.map(cells('Key', 'Duration (s)', 'Median of prefix (s)', 'What differed')), [
      ['fit-7', 6, 1, '3.0 s of garbage collection, 8.0 times the input'],
      ['fit-9', 5, 1, '3.5 s of garbage collection'],
    ]);
    // Prefixes with widely varying durations have no stragglers.
    const varied = Array.from({ length: 20 }, (_, i) => ({
      key: `x-${i}`,
      started: i,
      stopped: i + 0.1 + (i % 4),
    }));
    assert.deepEqual(stragglersOf(syntheticTrace({ tasks: varied })), []);
  });

  it('have an answer for every trace, and no rows without data', () => {
    for (const { name, title, run } of QUESTIONS) {
      assert.match(name, /^[a-z-]+$/);
      assert.ok(title.length > 10);
      assert.equal(run(syntheticTrace({})).length, 0, name);
    }
    assert.equal(new Set(QUESTIONS.map(({ name }) => name)).size, QUESTIONS.length);
    const absent = {
      submitted: Number.NaN,
      ready: Number.NaN,
      dispatched: Number.NaN,
      received: Number.NaN,
      acknowledged: Number.NaN,
      nbytes: Number.NaN,
    };
    const bare = syntheticTrace({
      tasks: [
        { key: 'a-1', started: 1, stopped: 2, ...absent },
        { key: 'b-1', started: 2, stopped: 2, needs: ['a-1'], state: 'lost', ...absent },
      ],
    });
    for (const { run } of QUESTIONS) run(bare).toString();
  });
});

describe('bins of time', () => {
  it('hold the added amounts', () => {
    const intervals = fc.array(
      fc.tuple(fc.double({ min: -5, max: 15, noNaN: true }), fc.double({ min: 0, max: 20, noNaN: true })),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(intervals, fc.integer({ min: 1, max: 20 }), (rows, count) => {
        const bins = new TimeBins(0, 10, count);
        let expected = 0;
        for (const [from, length] of rows) {
          bins.add(from, from + length, 2);
          expected += 2 * Math.max(0, Math.min(10, from + length) - Math.max(0, from));
        }
        const sum = bins.means().reduce((total, mean) => total + mean * bins.width, 0);
        assert.ok(Math.abs(sum - expected) < 1e-6);
      }),
    );
  });
});

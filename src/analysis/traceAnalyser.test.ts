// One test for each error of DASF.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import {
  CompleteEvent,
  type DasfEvent,
  type EventArgs,
  InstantEvent,
} from '../trace/formats/dasf/dasfEvents.js';
import type { Row } from './table.js';
import { TraceAnalyser } from './traceAnalyser.js';

interface TaskFields {
  readonly worker?: string;
  readonly host?: string;
  readonly name?: string;
  readonly size?: number;
  readonly needs?: readonly string[];
  readonly neededBy?: readonly string[];
  readonly device?: number;
}

/** Records a task that ran in [start, stop]. DASF's recorder writes the time of the end. */
function task(key: string, start: number, stop: number, fields: TaskFields = {}): DasfEvent {
  const {
    worker = 'worker-h-0',
    host = 'h',
    name = 'recorded',
    size = 0,
    needs = [],
    neededBy = [],
    device,
  } = fields;
  const args = {
    key,
    name,
    state: 'memory',
    size,
    shape: [],
    dtype: 'f8',
    type: 't',
    dependencies: needs,
    dependents: neededBy,
  };
  return new CompleteEvent('Compute', stop, stop - start, {
    processId: host,
    threadId: worker,
    args: device === undefined ? args : { ...args, device },
  });
}

const sample = (time: number, args: EventArgs, host = 'h', worker: string | null = null): DasfEvent =>
  new InstantEvent('Resource Usage', time, { processId: host, threadId: worker, args });
const gpu = (utilization: number, memory = 1e9): EventArgs => ({
  gpu_utilization: utilization,
  gpu_memory_used: memory,
});
const held = (time: number, worker: string, tasks: number): DasfEvent =>
  new InstantEvent('Managed Memory', time, {
    processId: 'h',
    threadId: worker,
    args: { key: 'k', state: 'memory', size: 1, tasks },
  });

const analyse = (...events: DasfEvent[]): TraceAnalyser => new TraceAnalyser({ getTraces: () => events });
const asDasf = (...events: DasfEvent[]): TraceAnalyser =>
  new TraceAnalyser({ getTraces: () => events }, { compat: 'dasf' });
const cells = (rows: readonly Row[], title: string): unknown[] => rows.map((row) => row[title]);
const UTILIZATION = 'Mean GPU Utilization (%)';
const THROUGHPUT = 'Mean Throughput (MB/s)';
const SIZE = 'Mean Data Size (MB)';

describe('resource samples', () => {
  it('belong to the task that ended at the recorded time, not to one that would have started then', () => {
    const events = [
      task('a-0', 0, 2),
      task('b-0', 2, 4),
      sample(0.5, gpu(10)),
      sample(1, gpu(10)),
      sample(3, gpu(30)),
    ];
    const rows = analyse(...events)
      .perFunctionBottleneck()
      .sort('Function').rows;
    // The window of the last sample is 1 to 3. `a` overlaps with its first half, and `b` overlaps only with this window.
    assert.deepEqual(cells(rows, UTILIZATION), [(10 * 1 + 30 * 1) / 2, 30]);
    assert.deepEqual(cells(asDasf(...events).perFunctionBottleneck().rows, UTILIZATION), [30]);
  });

  it('are weighted by their overlap', () => {
    const rows = analyse(
      task('a-0', 1.75, 3),
      sample(1, gpu(0, 0)),
      sample(2, gpu(100, 4e9)),
      sample(3, gpu(0, 0)),
    ).perFunctionBottleneck().rows;
    assert.deepEqual(cells(rows, UTILIZATION), [20]);
    assert.deepEqual(cells(rows, 'Mean GPU Memory Used (GB)'), [0.8]);
  });

  it('belong only to tasks of their host, worker and device', () => {
    const rows = analyse(
      task('a-0', 0, 1, { host: 'g', worker: 'worker-g-0' }),
      task('b-0', 0, 1, { host: 'h', worker: 'worker-h-0' }),
      task('c-0', 0, 1, { host: 'h', worker: 'worker-h-1' }),
      task('d-0', 0, 1, { host: 'h', worker: 'worker-h-2', device: 7 }),
      sample(1, gpu(10), 'g'),
      sample(1, gpu(20), 'h'),
      sample(1, gpu(30), 'h', 'worker-h-1'),
      sample(1, { ...gpu(40), device: 7 }, 'h'),
    )
      .perFunctionBottleneck()
      .sort('Function').rows;
    assert.deepEqual(
      cells(rows, UTILIZATION).map((mean) => Math.round(Number(mean) * 1e9) / 1e9),
      [10, 20, 30, 40],
    );
    assert.deepEqual(cells(rows, 'GPU'), ['0', '0', '1', '7']);
  });

  it('give the same result in any order of the file', () => {
    const events = [
      task('a-0', 0, 2),
      task('b-0', 1, 3, { worker: 'worker-h-1' }),
      ...[0.5, 1, 1.5, 2, 2.5].map((time) => sample(time, gpu(time))),
    ];
    const expected = analyse(...events)
      .perFunctionBottleneck()
      .sort('Function').rows;
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: events.length }), (order) => {
        const rows = analyse(...order)
          .perFunctionBottleneck()
          .sort('Function').rows;
        for (const [i, row] of rows.entries()) {
          const [got, wanted] = [row[UTILIZATION], expected[i]?.[UTILIZATION]];
          assert.ok(typeof got === 'number' && typeof wanted === 'number' && Math.abs(got - wanted) < 1e-9);
        }
      }),
    );
  });

  it('leave the cell empty if they are missing; DASF shows 0', () => {
    const events = [task('a-0', 0, 1), sample(10, gpu(50))];
    assert.deepEqual(cells(analyse(...events).perFunctionBottleneck().rows, UTILIZATION), [null]);
    assert.deepEqual(cells(asDasf(...events).perFunctionBottleneck().rows, UTILIZATION), [0]);
  });

  it('may have no GPU, at which DASF crashes', () => {
    const events = [
      task('a-0', 0, 1),
      sample(0.5, { cpu: 10 }),
      sample(1, { cpu: 20, gpu_utilization: null }),
    ];
    const { rows } = analyse(...events).perFunctionBottleneck();
    assert.deepEqual([cells(rows, UTILIZATION), cells(rows, 'GPU')], [[null], [null]]);
    assert.equal(asDasf(...events).perFunctionBottleneck().length, 1);
  });
});

describe('names', () => {
  it('are complete, and one function has one row', () => {
    const uuids = ['62a75b12-6b7a-49b0-b279-160a8ff3ee3b', '2d612856-11c9-4d72-8062-7dfff911cf37'];
    const events = uuids.map((uuid, i) =>
      task(`_func_fit-${uuid}`, i, i + 1, { name: `unc_fit-${uuid.slice(0, 23)}` }),
    );
    events.push(task('load', 5, 5.5, { name: '' }));
    const { rows } = analyse(...events).perFunctionBottleneck();
    assert.deepEqual(cells(rows, 'Function'), ['_func_fit', 'load']);
    assert.deepEqual(cells(rows, 'Num Tasks (chunks)'), [2, 1]);
    assert.equal(asDasf(...events).perFunctionBottleneck().length, 3);
  });

  it('of workers are GPUs only if a GPU was sampled and the name ends in a number', () => {
    const events = [task('a-0', 0, 1, { worker: 'worker-h-tcp://10.0.0.1:40331' }), sample(1, gpu(1))];
    assert.deepEqual(cells(analyse(...events).perFunctionBottleneck().rows, 'GPU'), [null]);
    assert.deepEqual(cells(asDasf(...events).perTaskBottleneck().rows, 'GPU'), ['tcp://10.0.0.1:40331']);
    assert.deepEqual(cells(analyse(task('a-0', 0, 1)).perTaskBottleneck().rows, 'GPU'), [null]);
  });
});

describe('data sizes', () => {
  it('belong to each run of a key, so that a second run does not replace the first', () => {
    const events = [
      task('in-0', 0, 1, { size: 1e6 }),
      task('out-0', 1, 2, { needs: ['in-0'] }),
      task('out-0', 3, 3.01, { needs: ['in-0'], worker: 'worker-h-1' }),
    ];
    const right = analyse(...events)
      .perFunctionBottleneck()
      .rows.find(({ Function: name }) => name === 'out');
    assert.ok(Math.abs(Number(right?.[THROUGHPUT]) - (1 + 100) / 2) < 1e-6);
    const dasf = asDasf(...events)
      .perFunctionBottleneck()
      .rows.find((row) => row['Duration (s)'] === 2);
    assert.ok(Math.abs(Number(dasf?.[THROUGHPUT]) - 50) < 1e-6);
  });

  it('of scattered inputs are unknown instead of 0', () => {
    const events = [task('in-0', 0, 1, { size: 2e6 }), task('use-0', 1, 2, { needs: ['in-0', 'scattered'] })];
    const row = analyse(...events)
      .perFunctionBottleneck()
      .rows.find(({ Function: name }) => name === 'use');
    assert.deepEqual([row?.[SIZE], row?.[THROUGHPUT]], [null, null]);
    assert.equal(asDasf(...events).perFunctionBottleneck().rows[0]?.[SIZE], 1);
  });

  it('count an edge once if both of its tasks record it', () => {
    const events = [
      task('in-0', 0, 1, { size: 3e6, neededBy: ['use-0'] }),
      task('use-0', 1, 3, { needs: ['in-0', 'in-0'] }),
    ];
    const row = analyse(...events)
      .perFunctionBottleneck()
      .rows.find(({ Function: name }) => name === 'use');
    assert.deepEqual([row?.[SIZE], row?.[THROUGHPUT]], [3, 1.5]);
  });
});

describe('input that crashes DASF', () => {
  for (const make of [analyse, asDasf]) {
    const mode = make === analyse ? '' : ' (compat)';
    it(`an empty database makes empty tables${mode}`, () => {
      const analyser = make();
      assert.equal(analyser.perFunctionBottleneck().length, 0);
      assert.equal(analyser.perTaskBottleneck().length, 0);
      assert.equal(analyser.perWorkerTaskBalance().length, 0);
      assert.equal(analyser.createAnnotatedTaskGraph().length, 0);
      assert.equal(analyser.perTaskBottleneck().columns.length, 6);
      assert.match(analyser.perWorkerTaskBalance().toCSV(), /Time Interval/);
    });

    it(`a task with a duration of 0 is a row${mode}`, () => {
      const [row] = make(task('a-0', 1, 1)).perFunctionBottleneck().rows;
      assert.equal(row?.['Duration (s)'], 0);
      assert.equal(row?.['Percentage of total time (%)'], null);
      assert.equal(make(task('a-0', 1, 1)).perTaskBottleneck().length, 1);
    });

    it(`tuple keys are keys${mode}`, () => {
      const event = new CompleteEvent('Compute', 2, 1, {
        processId: 'h',
        threadId: null,
        args: { key: ['x-1', 0] },
      });
      assert.deepEqual(cells(make(event).perTaskBottleneck().rows, 'Task Key'), ["('x-1', 0)"]);
      assert.equal(make(event).perFunctionBottleneck().length, 1);
    });
  }
});

describe('task balance', () => {
  const rowsOf = (analyser: TraceAnalyser): Row[] => [...analyser.perWorkerTaskBalance().rows];
  const TIME = 'Time Interval (seconds from begin)';

  it('has the peak of each second', () => {
    const events = [held(10, 'w', 1), held(10.2, 'w', 99), held(10.4, 'w', 2)];
    assert.deepEqual(rowsOf(analyse(...events)), [{ [TIME]: 0, w: 99 }]);
    assert.deepEqual(rowsOf(asDasf(...events)), [{ [TIME]: 0, w: 2 }]);
  });

  it('counts seconds from the first event, not on the clock', () => {
    const events = [held(10.9, 'w', 1), held(11.2, 'w', 2)];
    assert.deepEqual(rowsOf(analyse(...events)), [{ [TIME]: 0, w: 2 }]);
    assert.equal(asDasf(...events).perWorkerTaskBalance().length, 2);
  });

  it('has seconds and workers without events, with the results that workers hold', () => {
    const events = [held(10, 'w', 5), held(13, 'v', 1)];
    assert.deepEqual(rowsOf(analyse(...events)), [
      { [TIME]: 0, v: null, w: 5 },
      { [TIME]: 1, v: null, w: 5 },
      { [TIME]: 2, v: null, w: 5 },
      { [TIME]: 3, v: 1, w: 5 },
    ]);
    assert.deepEqual(rowsOf(asDasf(...events)), [
      { [TIME]: 0, v: 0, w: 5 },
      { [TIME]: 3, v: 1, w: 0 },
    ]);
  });

  it('includes the number at the start of a second in its peak', () => {
    const events = [held(0, 'w', 7), held(1.5, 'w', 1), held(2.5, 'w', 1)];
    assert.deepEqual(cells(rowsOf(analyse(...events)), 'w'), [7, 7, 1]);
  });

  it('does not depend on the order of the file', () => {
    const events = [held(0, 'w', 7), held(1.5, 'w', 1), held(2.5, 'v', 3)];
    assert.deepEqual(rowsOf(analyse(...events.toReversed())), rowsOf(analyse(...events)));
  });

  it('accepts another interval, and refuses one that makes too many rows', () => {
    const events = [held(0, 'w', 1), held(1e12, 'w', 2)];
    assert.throws(() => analyse(...events).perWorkerTaskBalance(), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    assert.throws(() => analyse(...events).perWorkerTaskBalance({ interval: 0 }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
    });
    assert.equal(analyse(...events).perWorkerTaskBalance({ interval: 5e11 }).length, 3);
    assert.equal(asDasf(...events).perWorkerTaskBalance().length, 2);
  });
});

describe('task table', () => {
  it('has the longest first, shares of each device, sizes in MB', () => {
    const { columns, rows } = analyse(
      task('a-0', 0, 1, { size: 5e5 }),
      task('b-0', 1, 4),
      sample(4, gpu(1)),
      task('c-0', 0, 2, { worker: 'worker-h-1' }),
    ).perTaskBottleneck();
    assert.deepEqual(columns, [
      'Host',
      'GPU',
      'Task Key',
      'Duration (s)',
      'Percentage of total time (%)',
      'Memory usage (Mb)',
    ]);
    assert.deepEqual(cells(rows, 'Task Key'), ['b-0', 'c-0', 'a-0']);
    assert.deepEqual(cells(rows, 'Percentage of total time (%)'), [75, 100, 25]);
    assert.deepEqual(cells(rows, 'Memory usage (Mb)'), [0, 0, 0.5]);
  });
});

describe('annotated task graph', () => {
  const analyser = analyse(
    task('in-0', 0, 1, { size: 8, neededBy: ['out-0', 'later-0'] }),
    task('out-0', 1, 3, { size: 1, needs: ['in-0'] }),
  );

  it('has a row per key, with null for unknown values', () => {
    assert.deepEqual(analyser.createAnnotatedTaskGraph().rows, [
      {
        'Task Key': 'in-0',
        name: 'in',
        size: 8,
        shape: '[]',
        type: 't',
        duration: 1,
        input_data_size: 0,
        throughput: 0,
      },
      {
        'Task Key': 'out-0',
        name: 'out',
        size: 1,
        shape: '[]',
        type: 't',
        duration: 2,
        input_data_size: 8,
        throughput: 4,
      },
      {
        'Task Key': 'later-0',
        name: null,
        size: null,
        shape: null,
        type: null,
        duration: null,
        input_data_size: null,
        throughput: null,
      },
    ]);
  });

  it('has edges', () => {
    const graph = analyser.createAnnotatedTaskGraph();
    assert.deepEqual(graph.dependencies('out-0'), ['in-0']);
    assert.deepEqual(graph.dependents('in-0').sort(), ['later-0', 'out-0']);
    assert.deepEqual(graph.dependencies('none'), []);
  });
});

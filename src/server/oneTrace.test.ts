// A recording, a live page, a page of an opened trace, a report and an export hold the same trace.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { RECORDED_TABLES } from '../protocol/traceSchema.js';
import { decodeViewMessage } from '../protocol/viewMessages.js';
import { playScript } from '../trace/live/clusterScript.test.support.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { expectedTasks, restOf, tasksOf } from '../trace/live/plainRows.test.support.js';
import { decodeReport, encodeReport } from '../trace/recording/reportBytes.js';
import { TableBytes } from '../trace/recording/tableBytes.test.support.js';
import { TraceEncoder } from '../trace/recording/traceEncoder.js';
import { StringTable } from '../trace/stringTable.js';
import type { Trace } from '../trace/trace.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { BEGINNING, RowFeed, wholeTable, wholeTrace } from './catchUp.js';
import { opening } from './opening.js';
import type { Outgoing } from './outlet.js';

const story = fc.record({
  seed: fc.integer({ min: 1, max: 1e9 }),
  sizes: fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(511, 512, 700)), {
    maxLength: 3,
  }),
  workers: fc.integer({ min: 2, max: 4 }),
  batch: fc.constantFrom(1, 7, 60),
  tuples: fc.boolean(),
});

/** Returns the trace that a page makes of messages. */
function onPage(pieces: Outgoing): Trace {
  const tables = new TableBytes();
  const begin = opening({ source: 'live', title: '', epoch: '', resumed: false, facts: {}, damage: null });
  for (const messages of [begin, ...pieces]) {
    for (const text of messages) {
      const message = decodeViewMessage(text);
      if (message.type === 'schema' || message.type === 'table') tables.add(message.table, [message.bytes]);
    }
  }
  return tables.trace();
}

function exported(trace: Trace): Trace {
  const tables = new TableBytes();
  for (const table of RECORDED_TABLES) tables.add(table, [...wholeTable(trace, table)]);
  return tables.trace();
}

const reported = (trace: Trace): Trace => decodeReport(encodeReport(trace, { title: '', facts: {} })).trace;

/** Returns all contents of a trace, with texts instead of ids. */
function contents(trace: Trace) {
  return {
    tasks: tasksOf(trace),
    dependencyIds: [...trace.tasks.dependencyIds],
    dependencyRows: [...trace.tasks.dependencyRows],
    computations: trace.computations.map(({ keys, ...facts }) => ({ ...facts, keys: [...keys] })),
    ...restOf(trace),
  };
}

describe('a trace read back', () => {
  it('is the same from a recording, a live page, a report, an export and a page of it', () => {
    fc.assert(
      fc.property(story, fc.integer({ min: 1, max: 300 }), (options, batchRows) => {
        const live = new LiveTrace();
        const recording = new TableBytes();
        const recorder = new TraceEncoder((table, parts) => recording.add(table, parts), { batchRows });
        recorder.start();
        const played = playScript(live, options);
        playScript(recorder, options);
        recorder.end();
        const trace = live.snapshot();
        const expected = contents(recording.trace());
        assert.deepEqual(expected.tasks, expectedTasks(played));
        assert.deepEqual(restOf(recording.trace()), restOf(trace));
        assert.deepEqual(contents(onPage(new RowFeed(live, BEGINNING).pieces(1e9))), expected);
        assert.deepEqual(contents(reported(trace)), expected);
        assert.deepEqual(contents(exported(trace)), expected);
        assert.deepEqual(contents(onPage(wholeTrace(trace))), expected);
      }),
      { numRuns: 12 },
    );
  });

  it('has the end of a worker that left between any two messages of a live page', () => {
    const worker = {
      index: 0,
      name: 'w',
      address: 'a',
      host: 'h',
      pid: 1,
      threads: 1,
      memoryLimit: 0,
      startTime: 1,
    };
    const begun = (): LiveTrace => {
      const live = new LiveTrace();
      live.workerAdded(worker);
      // The messages of a piece with few rows are sent together.
      for (let row = 0; row < 1200; row++)
        live.metric({
          time: 1,
          worker: 0,
          context: 'execute',
          span: '',
          prefix: 'p',
          activity: 'a',
          unit: 'bytes',
          value: row,
        });
      live.event({ time: 1, worker: 0, topic: 'a', text: 'b' });
      return live;
    };
    const { length } = [...new RowFeed(begun(), BEGINNING).pieces(1e9)];
    assert.ok(length > 2);
    for (let last = 0; last < length; last++) {
      const live = begun();
      const leaving = function* (): Outgoing {
        let sent = 0;
        for (const messages of new RowFeed(live, BEGINNING).pieces(1e9)) {
          yield messages;
          if (sent++ === last) live.workerRemoved(worker, 2, 'closed');
        }
      };
      assert.deepEqual([...onPage(leaving()).workers.stopped], [2], `after message ${last}`);
    }
  });

  it('has the keys of dependencies with rows that the live trace has evicted', () => {
    const live = new LiveTrace({ window: { tasks: 64 } });
    playScript(live, { seed: 7, sizes: [300, 200] });
    const trace = live.snapshot();
    const expected = [...trace.tasks.dependencyIds];
    assert.ok(trace.tasks.dependencyRows.includes(-1));
    for (const again of [
      onPage(new RowFeed(live, BEGINNING).pieces(1e9)),
      reported(trace),
      exported(trace),
      onPage(wholeTrace(trace)),
    ]) {
      assert.deepEqual([...again.tasks.dependencyIds], expected);
    }
  });

  it('has the same ids of keys everywhere if it has no computations', () => {
    const builder = new TraceBuilder(new StringTable());
    const text = (value: string): number => builder.strings.internString(value);
    const task = (name: string, id: number, needs: readonly string[]): void => {
      const key = builder.keys.internString(name);
      for (const need of needs) builder.dependencies.push(builder.keys.internString(need));
      const [host, worker, none] = [text('h'), text('w0'), -1];
      const facts = { recordedName: none, device: none, resultType: none, dtype: none, shape: none };
      builder.addTask({ key, host, worker, stop: 5, duration: 1, nbytes: 8, ...facts }, { id });
    };
    // The gap between the ids is too large for an array.
    task('load-1', 2 ** 41, []);
    task('sum-1', 2 ** 41 + 7, ['load-1', 'scattered']);
    builder.intervals.add({
      worker: 0,
      thread: 0,
      action: 1,
      start: 1,
      stop: 2,
      task: 2 ** 41 + 7,
      nbytes: 3,
    });
    const trace = builder.build();
    const expected = contents(reported(trace));
    assert.deepEqual(expected.dependencyRows, [0, -1]);
    assert.deepEqual(
      expected.tasks.map(({ key, id }) => [key, id]),
      [
        ['load-1', 0],
        ['sum-1', 1],
      ],
    );
    assert.deepEqual([...reported(trace).intervals.task], [1]);
    assert.deepEqual(contents(exported(trace)), expected);
    assert.deepEqual(contents(onPage(wholeTrace(trace))), expected);
  });
});

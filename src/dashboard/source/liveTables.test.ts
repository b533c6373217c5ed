import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { profiledPrefixes, profileTree } from '../../analysis/profile.js';
import type { ProfileCycle } from '../../protocol/clusterObserver.js';
import { decodeViewMessage, encodeTableMessage, type ViewCursor } from '../../protocol/viewMessages.js';
import { TraceEncoder } from '../../trace/recording/traceEncoder.js';
import { NO_ROWS } from '../../trace/trace.js';
import { LiveTables } from './liveTables.js';

const SAMPLES = 10_000;
const CYCLES = 23;

const NOWHERE: ViewCursor = { computations: 0, ...NO_ROWS };

function cycle(start: number): ProfileCycle {
  return {
    thread: 'threads-0',
    start,
    stop: start + 1,
    interval: 0.001,
    parents: Int32Array.of(-1, 0),
    names: ['load', 'parse'],
    files: ['/a.ts', '/a.ts'],
    lines: Int32Array.of(1, 2),
    times: Float64Array.from({ length: SAMPLES }, (_, sample) => start + sample / SAMPLES),
    stacks: Int32Array.from({ length: SAMPLES }, (_, sample) => sample % 2),
    sampleLines: new Int32Array(SAMPLES).fill(3),
    tasks: new Float64Array(SAMPLES).fill(5),
  };
}

describe('the live tables of a page', () => {
  it('sum up old samples beyond the limit without losing any', () => {
    const tables = new LiveTables(true);
    const encoder = new TraceEncoder(
      (table, parts, rows) => {
        const message = decodeViewMessage(encodeTableMessage(table, parts, rows === 0 ? undefined : rows));
        if (message.type === 'schema') tables.setSchema(table, message.bytes);
        else if (message.type === 'table') tables.add(message);
      },
      { standalone: true },
    );
    encoder.start();
    encoder.workerAdded({
      index: 0,
      name: 'threads-0',
      address: '',
      host: '',
      pid: 1,
      threads: 1,
      memoryLimit: 0,
      startTime: 0,
    });
    for (let second = 0; second < CYCLES; second++) {
      encoder.profile(0, cycle(1000 + second), () => ({ prefix: 'load', span: ['default'] }));
      encoder.flush();
      tables.reach({ ...NOWHERE, samples: SAMPLES * (second + 1) });
    }
    const trace = tables.trace();
    assert.ok(trace.samples.length < SAMPLES * CYCLES);
    assert.deepEqual(
      profiledPrefixes(trace).map(({ prefix, samples }) => [prefix, samples]),
      [['load', SAMPLES * CYCLES]],
    );
    const load = profileTree(trace).children['load;/a.ts;1'];
    assert.equal(load?.children['parse;/a.ts;2']?.count, (SAMPLES * CYCLES) / 2);
  });

  it('discard rows before a gap and rows that the server sends again', () => {
    const tables = new LiveTables(true);
    const encoder = new TraceEncoder(
      (table, parts, rows) => {
        const bytes = rows === 0 ? Buffer.concat(parts) : encodeTableMessage(table, parts, rows);
        if (rows === 0) return tables.setSchema(table, Uint8Array.from(bytes));
        const message = decodeViewMessage(bytes);
        if (message.type === 'table') tables.add(message);
      },
      { standalone: true },
    );
    const record = (text: string): void => {
      encoder.event({ time: 1, worker: -1, topic: 'log', text });
      encoder.flush();
    };
    const texts = (): string[] => {
      const { events, strings } = tables.trace();
      return Array.from(events.text, (id) => strings.get(id));
    };
    encoder.start();
    record('first');
    assert.deepEqual(texts(), []);
    tables.reach({ ...NOWHERE, events: 1 });
    assert.deepEqual(texts(), ['first']);
    record('second');
    tables.forgetStaged();
    record('second');
    tables.reach({ ...NOWHERE, events: 2 });
    assert.deepEqual(texts(), ['first', 'second']);
    tables.skip({ ...NOWHERE, events: 3 });
    record('sixth');
    tables.reach({ ...NOWHERE, events: 6 });
    assert.deepEqual(texts(), ['sixth']);
    assert.equal(tables.evicted().events, 5);
  });
});

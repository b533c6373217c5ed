// Chrome traces, read and written through the package: recognition by content, gzip, round trips, refused files.
import assert from 'node:assert/strict';
import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LongpoleError } from 'longpole';
import { type Table, TraceAnalyser } from 'longpole/analysis';
import { exportTrace, openTraces, type Trace } from 'longpole/trace';
import fc from '#internal/base/properties.test.support.js';
// The module, because the bundle keeps the functions of `node:fs` that a test replaces here.
import { openTrace } from '#internal/files/openTrace.js';
import { unpackFixture } from './support/dasfSmall.js';
import { repositoryPath } from './support/repository.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-chrome-'));
after(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const files = ['ResourceMonitor-c096.msgpack', 'TracePlugin-c096.msgpack'].map((name) =>
  unpackFixture(name, path(name)),
);

/** Returns the trace of DASF's two files. */
function dasf(): Trace {
  const [opened] = openTraces(files);
  assert.ok(opened !== undefined);
  return opened.trace;
}

/** Returns the tables of a trace as sorted lines, because rows of equal duration may be in any order. */
function tables(trace: Trace, options: ConstructorParameters<typeof TraceAnalyser>[1] = {}): string[][] {
  const analyser = new TraceAnalyser(trace, options);
  const lines = (table: Table): string[] => table.toCSV().split('\n').toSorted();
  return [
    lines(analyser.perFunctionBottleneck()),
    lines(analyser.perTaskBottleneck()),
    lines(analyser.perWorkerTaskBalance()),
  ];
}

/** Returns the key and the function of every task with the keys of its recorded dependencies. */
function tasksAndEdges({ tasks, strings }: Trace): string[] {
  return Array.from({ length: tasks.length }, (_, row) => {
    const needed = tasks.dependencyRows
      .subarray(tasks.dependencyOffsets[row]!, tasks.dependencyOffsets[row + 1]!)
      .filter((one) => one >= 0);
    const names = Array.from(needed, (one) => tasks.keyOf(one)).toSorted();
    return `${tasks.keyOf(row)} ${strings.get(tasks.functionName[row]!)}: ${names.join(' ')}`;
  }).toSorted();
}

function reasonOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_TRACE_FORMAT', String(error));
    return error.message;
  }
  return assert.fail('The file was opened.');
}

describe('a file of another program', () => {
  // test/fixtures/chrome/README.md describes the file.
  const golden = readFileSync(repositoryPath('test/fixtures/chrome/catapult.json'));
  const summary = (trace: Trace): object => ({
    events: trace.eventCount,
    tasks: Array.from({ length: trace.tasks.length }, (_, row) => trace.tasks.keyOf(row)),
    workers: Array.from(trace.workers.name, (id) => trace.strings.get(id)),
    edges: trace.tasks.dependencies.length,
    samples: trace.resources.length,
    instants: trace.events.length,
    damage: trace.damage,
  });
  const expected: object = JSON.parse(
    readFileSync(repositoryPath('test/fixtures/chrome/catapult.expected.json'), 'utf8'),
  );

  it('opens under any name, compressed or not, from bytes or from a file', () => {
    for (const content of [golden, gzipSync(golden)]) {
      const file = path('unknown.name');
      writeFileSync(file, content);
      for (const source of [file, content, new Uint8Array(content)]) {
        assert.deepEqual({ ...summary(openTrace(source)), damage: null }, expected);
      }
    }
  });

  it('opens with its remaining events if its gzip data is truncated or damaged', () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({
      ph: 'X',
      name: `f${i % 7}`,
      pid: 1,
      tid: 1,
      ts: i * i,
      dur: 1,
    }));
    const packed = gzipSync(JSON.stringify(many));
    const torn = openTrace(packed.subarray(0, packed.length / 2));
    assert.ok(torn.tasks.length > 1000 && torn.tasks.length < 5000, `${torn.tasks.length} tasks`);
    assert.ok(torn.damage !== undefined);
    const wrong = Uint8Array.from(packed);
    wrong[wrong.length - 6]! ^= 1;
    assert.match(openTrace(wrong).damage?.reason ?? '', /checksum/);
  });

  it('opens or is refused with a code if its gzip data has wrong bits', () => {
    const packed = gzipSync(golden);
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 7 }), fc.nat(), (at, bit, cut) => {
        const damaged = Uint8Array.from(
          packed.subarray(0, packed.length - (cut % 2) * (cut % packed.length)),
        );
        if (damaged.length > 0) damaged[at % damaged.length]! ^= 1 << bit;
        try {
          assert.ok(openTrace(damaged).tasks.length <= 20);
        } catch (error) {
          assert.ok(error instanceof LongpoleError, String(error));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is refused with a description of its content if it is not a trace', () => {
    for (const [content, looks] of [
      ['name,ts\na,1\n', /begins like text, "name,ts/],
      ['{"nodes":[],"samples":[]}', /JSON with the fields nodes, samples, but without traceEvents/],
      ['[{"a":1}]', /holds no event with a phase/],
      ['[{"name":"a","ph":"X","ts":1,"dur":-1}]', /and valid times/],
      [gzipSync('hello'), /inside its gzip, it begins like text, "hello"/],
      [gzipSync(gzipSync('[]')), /inside its gzip, it begins like gzip/],
      [Uint8Array.of(0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 255, 255, 255), /begins like gzip, but/],
      [Uint8Array.of(0x50, 0x41, 0x52, 0x31, 0, 0), /Parquet/],
      ['   \n', /text/],
    ] as const) {
      assert.match(
        reasonOf(() => openTrace(Buffer.from(content))),
        looks,
      );
    }
  });
});

describe("DASF's trace in other formats", () => {
  it('has the same tables after an export to an event file', () => {
    const trace = dasf();
    const file = path('trace.msgpack');
    assert.deepEqual(exportTrace(trace, { to: 'dasf', output: file }), [file]);
    const again = openTrace(file);
    assert.equal(again.damage, undefined);
    assert.deepEqual(tables(again), tables(trace));
    assert.deepEqual(tables(again, { compat: 'dasf' }), tables(trace, { compat: 'dasf' }));
  });

  for (const name of ['trace.json', 'trace.json.gz'])
    it(`has the same tasks and dependencies after an export to ${name}`, () => {
      const trace = dasf();
      const file = path(name);
      assert.deepEqual(exportTrace(trace, { to: 'chrome', output: file }), [file]);
      const again = openTrace(file);
      assert.equal(again.damage, undefined);
      assert.deepEqual(tasksAndEdges(again), tasksAndEdges(trace));
    });

  it('is read in chunks, and does not keep texts that it has no column for', (context) => {
    // The arguments contain 16 MB of text that a trace does not store.
    const file = path('large.json');
    const event = `{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":1,"args":{"junk":"${'x'.repeat(50_000)}"}}`;
    writeFileSync(file, `[${Array.from({ length: 320 }, () => event).join(',\n')}]`);
    const { mock } = context.mock.method(fs, 'readSync');
    syncBuiltinESMExports();
    const trace = openTrace(file);
    mock.restore();
    syncBuiltinESMExports();
    assert.equal(trace.tasks.length, 320);
    const sizes = mock.calls.map(({ arguments: [, buffer] }) => buffer.byteLength);
    assert.ok(sizes.length > 1);
    assert.ok(Math.max(...sizes) <= 1 << 20, `the file is read into ${Math.max(...sizes)} bytes`);
    const { strings } = trace;
    const texts = Array.from({ length: strings.length }, (_, id) => strings.get(id));
    assert.deepEqual(
      texts.filter((text) => text.includes('xx')),
      [],
    );
  });
});

// A trace that was written by DASF, and the tables that DASF made from it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Table, TraceAnalyser } from 'longpole/analysis';
import { EventProfiler, FileDatabase, MultiEventDatabase, openTrace } from 'longpole/trace';
import { repositoryPath } from './support/repository.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dasf-'));
after(() => rmSync(folder, { recursive: true }));

const fixture = (name: string): string => repositoryPath(`test/fixtures/dasf-small/${name}`);
const unpacked = (name: string): string => {
  const file = join(folder, name);
  writeFileSync(file, gunzipSync(readFileSync(fixture(`${name}.gz`))));
  return file;
};
const resourceFile = unpacked('ResourceMonitor-c096.msgpack');
const taskFile = unpacked('TracePlugin-c096.msgpack');
const database = new MultiEventDatabase([new EventProfiler(resourceFile), new EventProfiler(taskFile)]);

describe('the analyser with `compat` returns the rows of DASF, in any order for equal durations', () => {
  const dasf = new TraceAnalyser(database, { compat: 'dasf' });
  // This analyser reads event objects instead of columns.
  const fromEvents = new TraceAnalyser({ getTraces: () => database }, { compat: 'dasf' });
  for (const [name, tableOf] of [
    ['function_bottleneck', (analyser: TraceAnalyser): Table => analyser.perFunctionBottleneck()],
    ['task_bottleneck', (analyser: TraceAnalyser): Table => analyser.perTaskBottleneck()],
    ['task_balance', (analyser: TraceAnalyser): Table => analyser.perWorkerTaskBalance()],
  ] as const) {
    it(`in the table ${name}`, () => {
      const expected = readFileSync(fixture(`${name}.csv`), 'utf8').split('\n');
      for (const analyser of [dasf, fromEvents]) {
        const lines = tableOf(analyser).toCSV().split('\n');
        assert.equal(lines[0], expected[0]);
        assert.deepEqual(lines.toSorted(), expected.toSorted());
        assert.deepEqual(
          durations(tableOf(analyser)),
          durations(tableOf(analyser)).toSorted((a, b) => b - a),
        );
      }
    });
  }
});

function durations(table: Table): number[] {
  return table.rows.flatMap((row) => Number(row['Duration (s)'] ?? []));
}

describe('the tables of the same trace without `compat`', () => {
  const analyser = new TraceAnalyser(database);

  it('have one row per function and device, with the full name of the function', () => {
    const { rows } = analyser.perFunctionBottleneck();
    const names = new Set(rows.map(({ Function: name }) => name));
    assert.ok(names.has('_func_fit') && names.has('getGPUs') && names.has('mean_combine-partial'));
    assert.ok(rows.every(({ Function: name }) => !/[0-9a-f]{4}-|^$/.test(String(name))));
    assert.equal(rows.length, new Set(rows.map(({ GPU, Function: name }) => `${GPU} ${name}`)).size);
  });

  it('have the same sums of tasks and durations as the tables of DASF', () => {
    const sum = (table: Table, title: string): number =>
      table.rows.reduce((total, row) => total + Number(row[title]), 0);
    const dasf = new TraceAnalyser(database, { compat: 'dasf' }).perFunctionBottleneck();
    const right = analyser.perFunctionBottleneck();
    assert.equal(sum(right, 'Num Tasks (chunks)'), sum(dasf, 'Num Tasks (chunks)'));
    assert.ok(Math.abs(sum(right, 'Duration (s)') - sum(dasf, 'Duration (s)')) < 1e-9);
    assert.ok(Math.abs(sum(right, 'Percentage of total time (%)') - 400) < 1e-6);
  });

  it('have a row for every second', () => {
    const { rows } = analyser.perWorkerTaskBalance();
    assert.deepEqual(
      rows.map((row) => row['Time Interval (seconds from begin)']),
      [...rows.keys()],
    );
  });
});

describe("DASF's event file", () => {
  it('is reproduced byte by byte when its events are recorded again', () => {
    const copy = new FileDatabase(join(folder, 'copy.msgpack'), { commitThreshold: 777 });
    for (const event of new EventProfiler(taskFile).getTraces()) copy.record(event);
    copy.close();
    assert.ok(readFileSync(join(folder, 'copy.msgpack')).equals(readFileSync(taskFile)));
  });

  it('opens as bytes and as a file with any name', () => {
    const file = join(folder, 'any.json');
    writeFileSync(file, readFileSync(taskFile));
    assert.equal(openTrace(file).eventCount, 8500);
    assert.equal(openTrace(readFileSync(taskFile)).tasks.length, openTrace(taskFile).tasks.length);
    assert.equal(openTrace(readFileSync(resourceFile)).resources.length, 120);
  });
});

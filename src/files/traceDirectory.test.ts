import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc, { runs } from '../base/properties.test.support.js';
import { RECORDED_TABLES } from '../protocol/traceSchema.js';
import { playScript } from '../trace/live/clusterScript.test.support.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { expectedTasks, restOf, tasksOf } from '../trace/live/plainRows.test.support.js';
import type { Trace } from '../trace/trace.js';
import { openTrace } from './openTrace.js';
import { pythonWith } from './pythonWith.test.support.js';
import { TraceWriter, tableFile } from './traceWriter.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-trace-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let traces = 0;
const newName = (): string => join(folder, `${traces++}.trace`);

/** Reads every column. */
function readAll(trace: Trace): unknown {
  return [
    tasksOf(trace),
    restOf(trace),
    trace.computations.map(({ keys, stop }) => [keys, stop]),
    trace.totals,
  ];
}

function recorded(options: Parameters<typeof playScript>[1], batchRows?: number) {
  const directory = newName();
  const live = new LiveTrace();
  const writer = TraceWriter.create(directory, batchRows === undefined ? {} : { batchRows });
  const played = playScript(writer, options);
  playScript(live, options);
  writer.close();
  return { directory, played, live: live.snapshot() };
}

/** Calls a function while files of a folder have other bytes. */
function withBytes(directory: string, changed: ReadonlyMap<string, Uint8Array>, check: () => void): void {
  const before = Array.from(changed.keys(), (name) => [name, readFileSync(join(directory, name))] as const);
  for (const [name, bytes] of changed) writeFileSync(join(directory, name), bytes);
  try {
    check();
  } finally {
    for (const [name, bytes] of before) writeFileSync(join(directory, name), bytes);
  }
}

/** Rounds sums of doubles, which depend on the order of summation. */
const rounded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) => {
      if (one instanceof Map) return [...one].sort();
      if (ArrayBuffer.isView(one)) return Object.values(one);
      return typeof one === 'number' ? Number(one.toPrecision(10)) : one;
    }),
  );

describe('a trace directory', () => {
  it('contains everything that was recorded', () => {
    const story = fc.record({
      seed: fc.integer({ min: 1, max: 1e9 }),
      sizes: fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(511, 700)), { maxLength: 3 }),
      workers: fc.integer({ min: 2, max: 4 }),
      batch: fc.constantFrom(1, 7, 60),
      tuples: fc.boolean(),
    });
    fc.assert(
      fc.property(story, fc.constantFrom(5, 64, 16_384), (options, batchRows) => {
        const { directory, played, live } = recorded(options, batchRows);
        const trace = openTrace(directory);
        assert.equal(trace.damage, undefined);
        assert.deepEqual(tasksOf(trace), expectedTasks(played));
        assert.deepEqual(restOf(trace), restOf(live));
        assert.deepEqual([...trace.tasks.dependencyRows], [...live.tasks.dependencyRows]);
        assert.deepEqual(rounded(trace.totals), rounded(live.totals));
        assert.deepEqual(
          trace.computations.map(({ number, start, stop, client, code, keys }) => [
            number,
            start,
            stop,
            client,
            code,
            keys,
          ]),
          played.computations.map(({ number, submitted, client, code, keys }, i) => [
            number,
            submitted,
            live.computations[i]?.stop,
            client,
            code,
            keys,
          ]),
        );
        rmSync(directory, { recursive: true });
      }),
      { numRuns: runs(10) },
    );
  });

  it('is not overwritten by another recording', () => {
    const { directory } = recorded({ seed: 1, sizes: [3] });
    assert.throws(() => TraceWriter.create(directory), {
      code: 'ERR_LONGPOLE_TRACE_FILE',
      message: /already/,
    });
    TraceWriter.create(directory, { overwrite: true }).close();
    assert.equal(openTrace(directory).tasks.length, 0);
    assert.throws(() => TraceWriter.create(newName(), { interval: 0 }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
    });
  });

  it('can be opened during the recording', () => {
    const directory = newName();
    const writer = TraceWriter.create(directory);
    playScript(writer, { seed: 4, sizes: [40] });
    writer.flush();
    const trace = openTrace(directory);
    assert.ok(trace.tasks.length >= 40);
    assert.match(trace.damage?.reason ?? '', /still running, or its process was killed/);
    assert.equal(trace.damage?.bytes, 0);
    writer.close();
    assert.equal(openTrace(directory).damage, undefined);
  });

  it('of a newer Longpole is refused with an error that names the version', () => {
    const { directory } = recorded({ seed: 1, sizes: [3] });
    const file = join(directory, 'meta.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version": 1', '"version": 7'));
    assert.throws(() => openTrace(directory), {
      code: 'ERR_LONGPOLE_TRACE_VERSION',
      message: /version 7 .* version 1/,
    });
  });

  it('is refused if the folder has no trace', () => {
    const empty = newName();
    mkdirSync(empty);
    assert.throws(() => openTrace(empty), {
      code: 'ERR_LONGPOLE_TRACE_FORMAT',
      message: /without meta.json/,
    });
    for (const text of ['', '{', '[]', '{"format":"longpole-trace"}', '{"version":1}']) {
      writeFileSync(join(empty, 'meta.json'), text);
      assert.throws(() => openTrace(empty), { code: 'ERR_LONGPOLE_TRACE_FORMAT' });
    }
  });

  it('without one of its files opens and reports the missing file', () => {
    const { directory } = recorded({ seed: 1, sizes: [30] });
    for (const table of RECORDED_TABLES) {
      const file = join(directory, tableFile(table));
      const whole = readFileSync(file);
      rmSync(file);
      const trace = openTrace(directory);
      // Older traces do not have these tables.
      if (table === 'frames' || table === 'samples') assert.equal(trace.damage, undefined);
      else assert.match(trace.damage?.reason ?? '', new RegExp(`${table}.arrows: it is missing`));
      if (table !== 'tasks') readAll(trace);
      writeFileSync(file, whole);
    }
  });
});

describe('a truncated trace directory', () => {
  it('has all batches before the byte at which it was truncated', () => {
    const { directory, played } = recorded({ seed: 9, sizes: [8, 9] }, 6);
    const rows = expectedTasks(played);
    const file = join(directory, tableFile('tasks'));
    const meta = join(directory, 'meta.json');
    writeFileSync(meta, readFileSync(meta, 'utf8').replace('"closed"', '"recording"'));
    let last = rows.length;
    // Arrow pads to 8 bytes, so steps of 13 test every offset within a word.
    for (let size = statSync(file).size - 1; size >= 0; size -= size > 13 ? 13 : 1) {
      truncateSync(file, size);
      const trace = openTrace(directory);
      assert.notEqual(trace.damage, undefined);
      const { length } = trace.tasks;
      assert.ok(
        length === last || length === last - 6 || last === rows.length,
        `${length} rows after ${last}`,
      );
      // Reading all columns is slow, so do it once for every number of rows.
      if (length !== last) {
        assert.deepEqual(
          tasksOf(trace).map(({ needs, ...task }) => task),
          rows.slice(0, length).map(({ needs, ...task }) => task),
        );
      }
      last = length;
    }
    assert.equal(last, 0);
  });

  it('opens if any table is truncated at any byte', () => {
    const { directory } = recorded({ seed: 9, sizes: [8, 9] }, 6);
    fc.assert(
      fc.property(fc.constantFrom(...RECORDED_TABLES), fc.nat(), (table, at) => {
        const bytes = readFileSync(join(directory, tableFile(table)));
        withBytes(directory, new Map([[tableFile(table), bytes.subarray(0, at % bytes.length)]]), () => {
          const trace = openTrace(directory);
          assert.notEqual(trace.damage, undefined);
          if (trace.tasks.length > 0) readAll(trace);
        });
      }),
      { numRuns: runs(40) },
    );
  });

  it('with changed bits opens, or is refused with a reason', () => {
    const { directory } = recorded({ seed: 12, sizes: [8, 9] }, 6);
    const names = readdirSync(directory);
    const flips = fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(), fc.nat(7)), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(flips, (list) => {
        const changed = new Map(list.map(([name]) => [name, readFileSync(join(directory, name))]));
        for (const [name, at, bit] of list) {
          const bytes = changed.get(name)!;
          bytes[at % bytes.length]! ^= 1 << bit;
        }
        withBytes(directory, changed, () => {
          try {
            readAll(openTrace(directory));
          } catch (error) {
            assert.ok(
              error instanceof Error && 'code' in error,
              `${String(error)}\n${error instanceof Error ? error.stack : ''}`,
            );
            assert.match(String(error.code), /^ERR_LONGPOLE_TRACE_(FORMAT|VERSION)$/);
          }
        });
      }),
      { numRuns: runs(60) },
    );
  });

  it('of a killed process has everything that was written', () => {
    const directory = newName();
    const here = new URL('.', import.meta.url);
    const program = `
      import { TraceWriter } from '${new URL('traceWriter.js', here)}';
      import { playScript } from '${new URL('../trace/live/clusterScript.test.support.js', here)}';
      const writer = TraceWriter.create(process.argv[1], { batchRows: 16 });
      const played = playScript(writer, { seed: 5, sizes: [100] });
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program, directory]);
    assert.equal(signal, 'SIGKILL');
    const trace = openTrace(directory);
    assert.ok(trace.tasks.length >= 96);
    assert.match(trace.damage?.reason ?? '', /was killed/);
    readAll(trace);
  });

  it('of a program that ended without closing it is complete', () => {
    const directory = newName();
    const program = `
      import { TraceWriter } from '${new URL('traceWriter.js', new URL('.', import.meta.url))}';
      import { playScript } from '${new URL('../trace/live/clusterScript.test.support.js', new URL('.', import.meta.url))}';
      playScript(TraceWriter.create(process.argv[1]), { seed: 5, sizes: [100] });`;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program, directory]);
    assert.equal(status, 0);
    const trace = openTrace(directory);
    assert.equal(trace.damage, undefined);
    assert.ok(trace.tasks.length >= 100);
  });

  it('of a recorder with a failed write reports the failure once, and has all earlier rows', (context) => {
    if (process.platform !== 'linux')
      return context.skip('limits the size of files with the ulimit of Linux');
    const directory = newName();
    const here = new URL('.', import.meta.url);
    const program = `
      import { TraceWriter } from '${new URL('traceWriter.js', here)}';
      import { playScript } from '${new URL('../trace/live/clusterScript.test.support.js', here)}';
      let now = 0;
      performance.now = () => (now += 3000);
      const writer = TraceWriter.create(process.argv[1], { batchRows: 16 });
      playScript(writer, { seed: 5, sizes: Array.from({ length: 40 }, () => 50) });
      try { writer.close(); } catch (error) { console.log(error.code, error.message); }`;
    const { stdout, stderr } = spawnSync(
      'bash',
      [
        '-c',
        `ulimit -f 24; trap '' XFSZ; exec "$0" --input-type=module -e "$1" "$2"`,
        process.execPath,
        program,
        directory,
      ],
      { encoding: 'utf8' },
    );
    assert.match(stdout, /^ERR_LONGPOLE_TRACE_FILE .*arrows cannot be written/, stderr);
    assert.equal(stderr.match(/Recording stopped/g)?.length, 1, stderr);
    const trace = openTrace(directory);
    assert.match(trace.damage?.reason ?? '', /the recording failed/);
    assert.ok(trace.tasks.length > 0 && trace.tasks.length < 2000, `${trace.tasks.length} rows`);
    readAll(trace);
  });
});

describe('other programs', () => {
  it('can read every table: pyarrow, and pandas, polars and DuckDB if installed', (context) => {
    const python = pythonWith('pyarrow');
    if (python === undefined)
      return context.skip('no Python here has pyarrow (set LONGPOLE_PYTHON to one that has)');
    const { directory, played, live } = recorded({ seed: 21, sizes: [700, 30], tuples: true }, 64);
    const program = `
import glob, json, sys, importlib
import pyarrow as pa
tables = {}
for file in glob.glob(sys.argv[1] + '/*.arrows'):
    table = pa.ipc.open_stream(file).read_all()
    table.validate(full=True)
    tables[file.split('/')[-1].split('.')[0]] = table
tasks = tables['tasks']
result = {'rows': {name: table.num_rows for name, table in tables.items()},
          'keys': tasks.column('key').to_pylist(),
          'prefixes': tasks.column('prefix').to_pylist(),
          'states': tasks.column('state').to_pylist(),
          'stopped': tasks.column('stopped').to_pylist()[:1],
          'moved': tables['transfers'].column('keys').to_pylist()}
def there(name):
    try: return importlib.import_module(name)
    except ImportError: return None
if there('pandas'): result['pandas'] = len(tasks.to_pandas().groupby('prefix', observed=True))
if there('polars'): result['polars'] = there('polars').read_ipc_stream(sys.argv[1] + '/tasks.arrows').height
if there('duckdb'): result['duckdb'] = there('duckdb').sql("select count(distinct prefix) from tasks").fetchall()[0][0]
print(json.dumps(result))`;
    const { stdout, stderr } = spawnSync(python, ['-c', program, directory], {
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
    assert.notEqual(stdout, '', stderr);
    const result: PythonsView = JSON.parse(stdout);
    const rows = expectedTasks(played);
    assert.deepEqual(
      result.keys,
      rows.map(({ key }) => key),
    );
    assert.deepEqual(
      result.prefixes,
      rows.map(({ prefix }) => prefix),
    );
    assert.deepEqual(
      result.states,
      rows.map(({ state }) => state),
    );
    assert.deepEqual(result.stopped, [rows[0]?.stopped]);
    assert.equal(JSON.stringify(result.moved), JSON.stringify(movedKeys(live)));
    assert.equal(result.pandas ?? 3, 3);
    assert.equal(result.polars ?? rows.length, rows.length);
    assert.equal(result.duckdb ?? 3, 3);
  });
});

interface PythonsView {
  readonly keys: string[];
  readonly prefixes: string[];
  readonly states: string[];
  readonly stopped: number[];
  readonly moved: string[][];
  readonly pandas?: number;
  readonly polars?: number;
  readonly duckdb?: number;
}

function movedKeys({ transfers, keys }: Trace): string[][] {
  return Array.from({ length: transfers.length }, (_, row) =>
    Array.from(transfers.keys.subarray(transfers.keyOffsets[row], transfers.keyOffsets[row + 1]), (key) =>
      keys.get(key),
    ),
  );
}

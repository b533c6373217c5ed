// Event files as programs use them: several writers, programs that end in every way, and files that are no event files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { TraceAnalyser } from 'longpole/analysis';
import {
  CompleteEvent,
  EventProfiler,
  FileDatabase,
  InstantEvent,
  MultiEventDatabase,
  openTrace,
} from 'longpole/trace';
import { packageUrl, withFolder } from './support/programs.js';
import { repositoryPath } from './support/repository.js';
import { runCommand, runOrThrow } from './support/runCommand.js';

const IMPORT = `import { EventProfiler, FileDatabase, InstantEvent } from ${JSON.stringify(packageUrl('trace'))};`;

function program(folder: string, name: string, body: string): string {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, `${IMPORT}\n${body}`);
  return file;
}

const events = (file: string): number => openTrace(file).eventCount;

describe('FileDatabase', () => {
  it('writes when the queue is full, on commit(), and on close()', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      const database = new FileDatabase(file, { commitThreshold: 3 });
      const record = (): void => database.record(new InstantEvent('x', 1));
      record();
      record();
      assert.ok(!existsSync(file));
      record();
      assert.equal(events(file), 3);
      record();
      database.commit();
      assert.equal(events(file), 4);
      record();
      database.close();
      assert.equal(events(file), 5);
      assert.equal([...database.getTraces()].length, 5);
    });
  });

  it('discards queued events without `commitOnClose`, and removes an old file with `removeOldOutputFile`', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      writeFileSync(file, 'old');
      const database = new FileDatabase(file, { commitOnClose: false, removeOldOutputFile: true });
      assert.ok(!existsSync(file));
      database.record(new InstantEvent('x', 1));
      database.close();
      assert.ok(!existsSync(file));
    });
  });

  it('keeps its events if the file cannot be written, and its error names the file', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'missing', 'a.msgpack');
      const profiler = new EventProfiler(file);
      profiler.recordCompleteEvent('x', 1, 2, { threadId: 't' });
      assert.throws(() => profiler.commit(), {
        code: 'ERR_LONGPOLE_TRACE_FILE',
        message: /missing\/a\.msgpack/,
      });
      mkdirSync(join(folder, 'missing'));
      profiler.commit();
      assert.deepEqual([...profiler.getTraces()], [new CompleteEvent('x', 1, 2, { threadId: 't' })]);
    });
  });

  it('uses the defaults for undefined options', async () => {
    await withFolder(async (folder) => {
      const options = { database: undefined, commitThreshold: undefined };
      const { database } = new EventProfiler(join(folder, 'a.msgpack'), options);
      assert.ok(database instanceof FileDatabase);
      assert.equal(database.commitThreshold, 1000);
    });
  });

  it('returns the events of the file and then the queued events, each event once', async () => {
    await withFolder(async (folder) => {
      const database = new FileDatabase(join(folder, 'a.msgpack'));
      const profiler = new EventProfiler({ database });
      const names = () => Array.from(profiler.getTraces(), ({ name }) => name);
      profiler.recordInstantEvent('one', 1);
      assert.deepEqual(names(), ['one']);
      profiler.commit();
      profiler.recordInstantEvent('two', 2);
      assert.deepEqual(names(), ['one', 'two']);
      const seen: string[] = [];
      for (const { name } of profiler.getTraces()) {
        seen.push(name);
        profiler.commit();
      }
      assert.equal(seen.filter((name) => name === 'two').length, seen.length - 1);
      const args = { key: 'k-1', name: 'k', state: 'memory', size: 8, shape: [], dtype: 'x', type: 'y' };
      const fields = { threadId: 'w', args: { ...args, dependencies: [], dependents: [] } };
      profiler.recordCompleteEvent('Compute', 3, 1, fields);
      assert.equal(new TraceAnalyser(profiler).perTaskBottleneck().length, 1);
    });
  });

  it('refuses invalid options', () => {
    const code = 'ERR_LONGPOLE_INVALID_ARGUMENT';
    assert.throws(() => new FileDatabase('x', { commitThreshold: 0 }), { code });
    assert.throws(() => new FileDatabase('x', { lockTimeout: Number.NaN }), { code });
    assert.throws(() => new EventProfiler('x', { database: new FileDatabase('y') }), { code });
    assert.throws(() => new MultiEventDatabase(JSON.parse('[3]')), { code });
  });

  it('refuses events that a reader would drop, and unknown fields', () => {
    const profiler = new EventProfiler('never-written.msgpack', { commitThreshold: 1 });
    const fields = JSON.parse('{ "process_id": 3 }');
    const refused = (record: () => void, message: RegExp): void =>
      assert.throws(record, { code: 'ERR_LONGPOLE_INVALID_ARGUMENT', message });
    refused(() => profiler.recordCompleteEvent('x', 1, JSON.parse('null')), /duration: expected a number/);
    refused(() => profiler.recordInstantEvent('x', Number.NaN), /timestamp: expected a number/);
    refused(() => profiler.recordDurationBeginEvent('', 1), /name: expected a non-empty string/);
    refused(() => profiler.recordDurationEndEvent('x', 1, fields), /Did you mean 'processId'/);
  });
});

describe('several processes', () => {
  it('append to one file without lost or incomplete events', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'shared.msgpack');
      const writer = program(
        folder,
        'writer',
        `const database = new FileDatabase(${JSON.stringify(file)}, { commitThreshold: 20, flush: false });
         for (let i = 0; i < 200; i++) database.record(new InstantEvent(process.argv[2], i, { args: { text: 'x'.repeat(i) } }));`,
      );
      const names = ['a', 'b', 'c'];
      await Promise.all(names.map((name) => runOrThrow(process.execPath, [writer, name])));
      const all = [...new EventProfiler(file).getTraces()];
      assert.equal(openTrace(file).damage, undefined);
      for (const name of names) {
        const own = all.filter((event) => event.name === name).map((event) => event.timestamp);
        assert.deepEqual(own, [...Array(200).keys()]);
      }
    });
  });

  for (const path of ['/usr/bin:/bin', '/nonexistent']) {
    it(`wait for the lock of the file until their time limit (PATH=${path})`, async () => {
      await withFolder(async (folder) => {
        const file = join(folder, 'locked.msgpack');
        const waiter = program(
          folder,
          'waiter',
          `const database = new FileDatabase(${JSON.stringify(file)}, { lockTimeout: 0.1, commitOnClose: false });
           database.record(new InstantEvent('x', 1));
           try { database.commit(); console.log('written'); } catch (error) { console.log(error.code); }`,
        );
        const commit = (): Promise<string> => runOrThrow(process.execPath, [waiter], { env: { PATH: path } });
        assert.equal(await commit(), 'written\n');
        // The file is locked with flock(2) if the command exists, otherwise with a lock file.
        const fd = openSync(file, 'a');
        const lock = await runCommandWith(fd, 'flock', ['-x', '3']);
        if (path === '/nonexistent' || lock !== 0) writeFileSync(`${file}.lock`, String(process.pid));
        assert.equal(await commit(), 'ERR_LONGPOLE_LOCK_TIMEOUT\n');
        closeSync(fd);
        writeFileSync(`${file}.lock`, '999999999');
        assert.equal(await commit(), 'written\n');
        assert.equal(events(file), 2);
      });
    });
  }
});

/** Returns the exit status of a command that has `fd` as descriptor 3; -1 if the command does not exist. */
function runCommandWith(fd: number, command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', fd] });
    child.once('error', () => resolve(-1));
    child.once('exit', (code) => resolve(code ?? -1));
  });
}

describe('events that are queued when the process ends', () => {
  const endings: readonly (readonly [string, string, Partial<{ code: number; signal: string }>])[] = [
    ['normally', '', { code: 0 }],
    ['by process.exit', 'process.exit(3);', { code: 3 }],
    ['by an error', "throw new Error('no');", { code: 1 }],
    [
      'by SIGTERM',
      "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);",
      { signal: 'SIGTERM' },
    ],
    ['by SIGINT', "process.kill(process.pid, 'SIGINT'); setInterval(() => {}, 1000);", { signal: 'SIGINT' }],
    [
      'by its own signal handler',
      "process.on('SIGTERM', () => process.exit(7)); process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);",
      { code: 7 },
    ],
  ];
  for (const [how, ending, expected] of endings) {
    it(`are written if it ends ${how}`, async () => {
      await withFolder(async (folder) => {
        const file = join(folder, 'a.msgpack');
        const path = program(
          folder,
          'ends',
          `const profiler = new EventProfiler(${JSON.stringify(file)});
           profiler.recordInstantEvent('x', 1);
           profiler.recordDurationBeginEvent('y', 2);
           ${ending}`,
        );
        const child = spawn(process.execPath, [path], { stdio: 'ignore' });
        const end = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
          child.once('exit', (code, signal) => resolve({ code, signal }));
        });
        assert.deepEqual(end, { code: null, signal: null, ...expected });
        assert.equal(events(file), 2);
      });
    });
  }

  it('are written except those whose arguments no file can hold, which are named', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      const circular: Record<string, unknown> = {};
      circular['self'] = circular;
      const database = new FileDatabase(file);
      for (const [name, args] of [
        ['first', {}],
        ['circular', circular],
        ['symbol', { symbol: Symbol('x') }],
        ['last', {}],
      ] as const)
        database.record(new InstantEvent(name, 1, { args }));
      const refused = (name: string) => ({
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
        message: new RegExp(`The event '${name}' cannot be written to .*a\\.msgpack, and was dropped`),
      });
      assert.throws(() => database.commit(), refused('circular'));
      assert.throws(() => database.close(), refused('symbol'));
      database.close();
      assert.deepEqual(
        Array.from(new FileDatabase(file).getTraces(), ({ name }) => name),
        ['first', 'last'],
      );
    });
  });

  it('that cannot be written at the end of the program are counted in a warning', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'removed', 'a.msgpack');
      const path = program(
        folder,
        'unwritable',
        `new EventProfiler(${JSON.stringify(file)}).recordInstantEvent('x', 1);`,
      );
      const { code, stderr } = await runCommand(process.execPath, [path]);
      assert.equal(code, 0);
      assert.match(
        stderr,
        /^\(node:\d+\) LongpoleWarning: 1 events of .*a\.msgpack are lost: .*folder does not exist/,
      );
    });
  });

  it('are written at the end of the program except those that no file can hold', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      const path = program(
        folder,
        'refused',
        `const profiler = new EventProfiler(${JSON.stringify(file)});
         for (const x of [1, Symbol('x'), 2, Symbol('y')]) profiler.recordInstantEvent('x', 1, { args: { x } });`,
      );
      const { code, stderr } = await runCommand(process.execPath, [path]);
      assert.equal(code, 0);
      assert.equal(stderr.match(/1 events of .*a\.msgpack are lost/g)?.length, 2, stderr);
      assert.equal(events(file), 2);
    });
  });

  it('are written if only their thread ends', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      const path = program(
        folder,
        'thread',
        `import { isMainThread, Worker } from 'node:worker_threads';
         if (isMainThread) new Worker(new URL(import.meta.url));
         else new EventProfiler(${JSON.stringify(file)}).recordInstantEvent('x', 1);`,
      );
      const { code, stderr } = await runCommand(process.execPath, [path]);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(events(file), 1);
    });
  });
});

describe('an old output file', () => {
  it('is an error with a code if it cannot be removed', async () => {
    await withFolder(async (folder) => {
      const code = 'ERR_LONGPOLE_TRACE_FILE';
      assert.throws(() => new FileDatabase(folder, { removeOldOutputFile: true }), { code });
    });
  });
});

describe('openTrace', () => {
  it('describes the content of a file that is not a trace', async () => {
    await withFolder(async (folder) => {
      for (const [content, what] of [
        ['[{"name": 1}]', /it is JSON, but holds no event with a phase/],
        ['hello there', /it begins like text, "hello there"/],
        [Uint8Array.of(0x1f, 0x8b, 8, 0), /it begins like gzip/],
        [Uint8Array.of(1, 2, 3), /it begins with the bytes 01 02 03/],
      ] as const) {
        const file = join(folder, 'a.msgpack');
        writeFileSync(file, content);
        assert.throws(() => openTrace(file), { code: 'ERR_LONGPOLE_TRACE_FORMAT', message: what });
        assert.throws(() => openTrace(readFileSync(file)), { code: 'ERR_LONGPOLE_TRACE_FORMAT' });
      }
    });
  });

  it('names a missing file without creating it, and opens an empty file', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      const code = 'ERR_LONGPOLE_TRACE_FILE';
      assert.throws(() => openTrace(file), { code, message: /there is no such file/ });
      assert.throws(() => [...new EventProfiler(file).getTraces()], { code });
      assert.ok(!existsSync(file));
      const noTrace = { code: 'ERR_LONGPOLE_TRACE_FORMAT', message: /is a folder without meta\.json/ };
      assert.throws(() => openTrace(folder), noTrace);
      writeFileSync(file, '');
      assert.deepEqual([events(file), openTrace(file).damage], [0, undefined]);
    });
  });

  it('opens a file that ends in the middle of an event, and reports the damage', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'a.msgpack');
      const profiler = new EventProfiler(file);
      for (let i = 0; i < 5000; i++) profiler.recordInstantEvent('x', i, { args: { text: 'y'.repeat(i) } });
      profiler.commit();
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.subarray(0, bytes.length - 10));
      const trace = openTrace(file);
      assert.equal(trace.eventCount, 4999);
      assert.equal(trace.damage?.reason, 'the last record is not complete');
      assert.equal([...profiler.getTraces()].length, 4999);
    });
  });
});

describe('a rewritten file', () => {
  const rewritten = (folder: string, bytes: Uint8Array): Buffer => {
    const [from, to] = ['from.msgpack', 'to.msgpack'].map((name) => join(folder, name));
    writeFileSync(from!, bytes);
    const database = new FileDatabase(to);
    for (const event of new EventProfiler(from).getTraces()) database.record(event);
    database.close();
    return readFileSync(to!);
  };

  for (const plugin of ['ResourceMonitor', 'TracePlugin']) {
    it(`of DASF has the same bytes, so that 0.0 stays a float: ${plugin}`, () =>
      withFolder(async (folder) => {
        const packed = repositoryPath(`test/fixtures/dasf-small/${plugin}-c096.msgpack.gz`);
        const bytes = gunzipSync(readFileSync(packed));
        assert.ok(rewritten(folder, bytes).equals(bytes));
      }));
  }

  it('keeps the floats with whole values in the arguments of any event', () =>
    withFolder(async (folder) => {
      const text = (value: string): Buffer => Buffer.from([0xa0 | value.length, ...Buffer.from(value)]);
      const float = (value: number): Buffer => {
        const bytes = Buffer.alloc(9, 0xcb);
        bytes.writeDoubleBE(value, 1);
        return bytes;
      };
      const args = [[0x83], text('loss'), float(0), text('step'), [0], text('rate'), float(2)];
      const record = Buffer.concat(
        [
          [0x86],
          ...[text('name'), text('fit'), text('timestamp'), float(1), text('phase'), text('B')],
          ...[text('process_id'), [0], text('thread_id'), [0], text('args'), ...args],
        ].map((part) => Buffer.from(part)),
      );
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(record.length));
      const bytes = Buffer.concat([length, record]);
      assert.deepEqual(rewritten(folder, bytes), bytes);
    }));
});

describe('an argument that is not a trace', () => {
  it('is refused with a code by openTrace and TraceAnalyser', () => {
    const code = 'ERR_LONGPOLE_INVALID_ARGUMENT';
    for (const given of [undefined, null, 5, {}]) {
      assert.throws(() => Reflect.apply(openTrace, undefined, [given]), { code });
      assert.throws(() => Reflect.construct(TraceAnalyser, [given]), { code });
    }
    const trace = openTrace(new TextEncoder().encode('[]'));
    assert.throws(() => Reflect.construct(TraceAnalyser, [trace, { compat: 'other' }]), { code });
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { InstantEvent } from '../trace/formats/dasf/dasfEvents.js';
import { FileDatabase } from './fileDatabase.js';
import { openTrace } from './openTrace.js';
import { openTraces } from './openTraces.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-open-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('a path that the system refuses', () => {
  it('is an error with a code, which names the path', () => {
    const loop = join(folder, 'loop');
    symlinkSync(loop, loop);
    for (const path of [loop, join(folder, 'x'.repeat(300)), join(folder, 'a\0b')])
      for (const open of [() => openTrace(path), () => openTraces([path])])
        assert.throws(open, (error: Error) => {
          assert.equal('code' in error && error.code, 'ERR_LONGPOLE_TRACE_FILE');
          assert.ok(error.message.startsWith(`${folder}/`));
          return true;
        });
  });
});

describe('a file of several gzip members', () => {
  const slices = (from: number): string =>
    Array.from({ length: 100 }, (_, i) => `{"ph":"X","name":"f","ts":${from + i},"dur":1},\n`).join('');
  // An array of events may lack its end, so only the checksum and the size show what is missing.
  const packed = Buffer.concat([gzipSync(`[${slices(0)}`), gzipSync(slices(100))]);

  it('is read whole, without damage', () => {
    const trace = openTrace(fileOf('whole.json.gz', packed));
    assert.deepEqual([trace.tasks.length, trace.damage], [200, undefined]);
  });

  it('is damaged if its last member is cut off or has a wrong checksum', () => {
    const cut = openTrace(fileOf('cut.json.gz', packed.subarray(0, -8)));
    assert.match(cut.damage?.reason ?? '', /the gzip file: it is cut off/);
    const wrong = Buffer.from(packed);
    wrong[wrong.length - 8]! ^= 1;
    assert.match(openTrace(wrong).damage?.reason ?? '', /its checksum is wrong/);
  });
});

describe('several event files of one run', () => {
  it('name the damaged one', () => {
    const [whole, cut] = ['whole.msgpack', 'cut.msgpack'].map((name) => join(folder, name));
    for (const file of [whole, cut]) {
      const database = new FileDatabase(file);
      for (const name of ['first', 'second']) database.record(new InstantEvent(name, 1));
      database.close();
    }
    truncateSync(cut!, statSync(cut!).size - 1);
    const [opened] = openTraces([whole!, cut!]);
    assert.equal(opened?.trace.eventCount, 3);
    assert.equal(opened.trace.damage?.reason, 'cut.msgpack: the last record is not complete');
  });
});

describe('a report with damaged data', () => {
  it('is an error that names the file', () => {
    const page = (data: string): string =>
      `<!doctype html><script id="longpole-trace" type="text/plain">${deflateSync(data).toString('base64')}</script>`;
    for (const [name, data, code] of [
      ['other.html', 'hello', 'ERR_LONGPOLE_TRACE_FORMAT'],
      ['head.html', 'LPREPORT\u0001\0\0\0\u0004\0\0\0oops', 'ERR_LONGPOLE_TRACE_FORMAT'],
      ['newer.html', 'LPREPORT\u0009\0\0\0\0\0\0\0', 'ERR_LONGPOLE_TRACE_VERSION'],
    ] as const) {
      const file = fileOf(name, page(data));
      assert.throws(
        () => openTrace(file),
        (error: Error) => 'code' in error && error.code === code && error.message.startsWith(file),
      );
    }
  });
});

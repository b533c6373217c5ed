// Compressed files that would unpack to gigabytes: reading stops with an error code before the memory is allocated.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { constants, deflateSync, gzipSync } from 'node:zlib';
import { LongpoleError } from 'longpole';
import { openTrace, openTraces } from 'longpole/trace';
import { LZ4_CODEC } from '#internal/files/lz4Codec.js';
import { type ArrowCodec, memorySource } from '#internal/trace/formats/arrow/arrowMessages.js';
import { openTables } from '#internal/trace/recording/openTables.js';
import { BLOCK_BYTES, lz4Zeros, tableWith } from './support/lz4Bomb.js';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';

const MIB = 2 ** 20;
/** More bytes than the minimum of the limit. */
const BOMB = Buffer.alloc(130 * MIB, ' ');
/** Compresses equal bytes fast. */
const RUNS = { strategy: constants.Z_RLE };

const folder = mkdtempSync(join(tmpdir(), 'longpole-unpacked-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, bytes: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const slice = { ph: 'X', name: 'f', pid: 1, tid: 1, ts: 0, dur: 1 };
const report = fileOf(
  'bomb.html',
  `<!doctype html><script id="longpole-trace" type="text/plain">${deflateSync(BOMB, RUNS).toString('base64')}</script>`,
);
const text = JSON.stringify(slice);
const gzip = fileOf(
  'bomb.json.gz',
  gzipSync(Buffer.concat([Buffer.from(`[${text},`), BOMB, Buffer.from(`${text}]`)]), RUNS),
);
const small = fileOf('small.json.gz', gzipSync(JSON.stringify([slice, slice])));

const RECORDED = repositoryPath('test/fixtures/version-1/recorded');

/** Returns a trace directory with another table of tasks. */
function directoryOf(name: string, tasks: readonly Uint8Array[]): string {
  const path = join(folder, name);
  cpSync(RECORDED, path, { recursive: true });
  writeFileSync(join(path, 'tasks.arrows'), Buffer.concat(tasks));
  return path;
}

/** Some 540 kB of LZ4 that unpack to 138 MB. */
const BLOCKS = 33;
const zeros = lz4Zeros(BLOCKS);

const withCode = (code: string) => (error: unknown) => error instanceof LongpoleError && error.code === code;

describe('a compressed file that unpacks to far more bytes than a trace', () => {
  it('is not read beyond 100 times its compressed size and 128 MiB', () => {
    for (const file of [report, gzip])
      assert.throws(
        () => openTrace(file),
        (error) => {
          assert.ok(withCode('ERR_LONGPOLE_UNPACKED_SIZE')(error), String(error));
          assert.match(
            String(error),
            /bomb\.[.a-z]+ was not read further: [\d,]+ bytes .* 134,217,728 bytes/,
          );
          return true;
        },
      );
  });

  it('is read up to the limit `maxUnpackedBytes`', () => {
    // With a higher limit, the whole content is read, and it is not a trace.
    assert.throws(
      () => openTrace(report, { maxUnpackedBytes: 200 * MIB }),
      withCode('ERR_LONGPOLE_TRACE_FORMAT'),
    );
    assert.equal(openTrace(gzip, { maxUnpackedBytes: Number.POSITIVE_INFINITY }).tasks.length, 2);
    assert.equal(openTrace(small).tasks.length, 2);
    for (const open of [
      () => openTrace(small, { maxUnpackedBytes: 50 }),
      () => openTraces([small], undefined, { maxUnpackedBytes: 50 }),
    ])
      assert.throws(open, withCode('ERR_LONGPOLE_UNPACKED_SIZE'));
  });

  it('counts together with the other tables of a trace directory', () => {
    assert.equal(openTrace(RECORDED, { maxUnpackedBytes: 1e6 }).tasks.length, 127);
    assert.throws(
      () => openTrace(RECORDED, { maxUnpackedBytes: 2000 }),
      withCode('ERR_LONGPOLE_UNPACKED_SIZE'),
    );
  });

  it('is refused as a table of a trace directory before anything is unpacked', () => {
    const directory = directoryOf('bomb', tableWith(zeros, BLOCKS * BLOCK_BYTES));
    const unpacked: number[] = [];
    const { compress, decompress } = LZ4_CODEC;
    const codec: ArrowCodec = {
      compress,
      decompress: (bytes, target) => {
        unpacked.push(target.length);
        decompress(bytes, target);
      },
    };
    const open = (checked: boolean, maxUnpackedBytes?: number) =>
      openTables(
        { ended: 'closed' },
        (table) => {
          const name = join(directory, `${table}.arrows`);
          return { name, bytes: memorySource(readFileSync(name)) };
        },
        { codec, checked, maxUnpackedBytes },
      );
    for (const checked of [true, false]) {
      assert.throws(() => open(checked), withCode('ERR_LONGPOLE_UNPACKED_SIZE'));
      assert.deepEqual(unpacked, []);
    }
    assert.throws(() => openTrace(directory), /bomb was not read further: [\d,]+ bytes .* 134,217,728 bytes/);
    // With a higher limit, the bytes unpack to what they state.
    const trace = open(true, 150 * MIB);
    assert.ok(unpacked.includes(BLOCKS * BLOCK_BYTES));
    assert.equal(trace.damage, undefined);
    assert.equal(openTrace(directory, { maxUnpackedBytes: 150 * MIB }).tasks.length, trace.tasks.length);
  });

  it('is refused as a table of a directory that is read on first use', () => {
    const directory = directoryOf('large', tableWith(zeros, BLOCKS * BLOCK_BYTES));
    // Holes, which take no room on the disk. Zeros are no message, so the table has no rows.
    writeFileSync(join(directory, 'events.arrows'), '');
    truncateSync(join(directory, 'events.arrows'), 65 * MIB);
    assert.throws(
      () => openTrace(directory, { maxUnpackedBytes: 130 * MIB }),
      /large was not read further: 68,\d{3},\d{3} bytes .* 136,314,880 bytes/,
    );
    // The table is below 100 times the size of the directory.
    assert.ok(openTrace(directory).tasks.length > 0);
  });

  it('is refused with an invalid `maxUnpackedBytes`', () => {
    for (const maxUnpackedBytes of [-1, Number.NaN])
      assert.throws(() => openTrace(small, { maxUnpackedBytes }), withCode('ERR_LONGPOLE_INVALID_ARGUMENT'));
  });

  it('is read up to the limit of `longpole analyze --max-unpacked`', async () => {
    const analyze = (...args: string[]) =>
      runCommand(process.execPath, [repositoryPath('dist/bundle/main.js'), 'analyze', ...args]);
    const stopped = await analyze('--max-unpacked', '50B', small);
    assert.equal(stopped.code, 2);
    assert.match(stopped.stderr, /small\.json\.gz was not read further/);
    assert.equal((await analyze('--max-unpacked', '1MB', small)).code, 0);
  });
});

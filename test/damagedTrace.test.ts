// Responses about a damaged trace. Columns of a large trace are read when they are used, so damage is found only then.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { ERROR_CODES } from '#internal/base/errors.js';
import { LZ4_CODEC } from '#internal/files/lz4Codec.js';
import { RECORDED_TABLES, type RecordedTable } from '#internal/protocol/traceSchema.js';
import { TEST_PAGE, TestPage } from '#internal/server/dashboard.test.support.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import { memorySource } from '#internal/trace/formats/arrow/arrowMessages.js';
import { openTables } from '#internal/trace/recording/openTables.js';
import type { Trace } from '#internal/trace/trace.js';
import { repositoryPath } from './support/repository.js';

const FOLDER = repositoryPath('test/fixtures/version-1/recorded');
const PATHS = [
  'health',
  'metrics',
  'api/task/0',
  'api/task/1',
  'api/task/999999',
  ...RECORDED_TABLES.map((table) => `api/trace/${table}.arrow`),
];

/** The first bytes of every compressed buffer. */
const LZ4_MAGIC = Uint8Array.of(0x04, 0x22, 0x4d, 0x18);

type Damage = (bytes: Buffer) => Buffer | undefined;

function wrongBit(share: number): Damage {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    copy[Math.floor(copy.length * share)]! ^= 0x10;
    return copy;
  };
}

const DAMAGES: readonly (readonly [string, Damage])[] = [
  ['is missing', () => undefined],
  ['is empty', () => Buffer.alloc(0)],
  ['is truncated', (bytes) => bytes.subarray(0, bytes.length / 2)],
  ...[0.2, 0.5, 0.8].map((share) => [`has a wrong bit at ${share * 100} %`, wrongBit(share)] as const),
];

/** Opens the trace as a large trace is opened: only the descriptions of its batches are read. */
function openLazily(damaged: RecordedTable, damage: Damage): Trace {
  return openTables(
    { ended: 'closed' },
    (table) => {
      const name = join(FOLDER, `${table}.arrows`);
      const whole = readFileSync(name);
      const bytes = table === damaged ? damage(whole) : whole;
      return { name, bytes: bytes === undefined ? undefined : memorySource(bytes) };
    },
    { codec: LZ4_CODEC, checked: false },
  );
}

/** Keeps connections open. With it, a request takes a third of the CPU time of `fetch`. */
const agent = new Agent({ keepAlive: true });

/** Requests a page. Returns the code of an error response; undefined for any other response. */
async function codeAt(url: string): Promise<string | undefined> {
  const [response]: IncomingMessage[] = await once(get(url, { agent }), 'response');
  const { statusCode } = response!;
  const body = await buffer(response!);
  if (statusCode === 200 || statusCode === 404) return undefined;
  const { error }: { error: { code: string; message: string } } = JSON.parse(String(body));
  assert.equal(statusCode, 422);
  assert.ok(error.code in ERROR_CODES && error.code !== 'ERR_LONGPOLE_INTERNAL', error.code);
  assert.match(error.message, /\.arrows|trace/);
  return error.code;
}

/** Returns the reason with which the stream to a page closes; empty if the stream was complete. */
async function endOfStream(link: string): Promise<string> {
  const page = new TestPage();
  const isEnd = (type: string | undefined): boolean => type === 'complete' || type === 'closed';
  const ended = page.until(({ type }) => isEnd(type));
  await page.connect(link);
  await ended;
  const last = page.texts.findLast(({ type }) => isEnd(type));
  await page.leave();
  return last?.type === 'closed' ? last.reason : '';
}

describe('a damaged trace', () => {
  for (const table of RECORDED_TABLES)
    it(`gets a response or an error code on every path if its table ${table} is damaged`, async () => {
      const closing: Promise<void>[] = [];
      for (const [how, damage] of DAMAGES) {
        const trace = openLazily(table, damage);
        const source = { kind: 'recorded', title: 'damaged', facts: {}, trace } as const;
        const server = await DashboardServer.start({ source, port: 0, page: TEST_PAGE });
        for (const path of PATHS)
          await assert.doesNotReject(codeAt(`${server.link}${path}`), `${path}, ${table} ${how}`);
        const reason = await endOfStream(server.link);
        if (reason !== '') assert.match(reason, /\(ERR_LONGPOLE_TRACE_\w+\)$/, `${table} ${how}`);
        closing.push(server.close());
      }
      await Promise.all(closing);
    });

  it('gets errors as JSON for tasks and tables, and as text on the page, if its keys cannot be read', async () => {
    const trace = openLazily('dependencies', (bytes) => {
      const copy = Buffer.from(bytes);
      // The first compressed buffer contains keys.
      copy[copy.indexOf(LZ4_MAGIC)]! ^= 1;
      return copy;
    });
    const source = { kind: 'recorded', title: 'damaged', facts: {}, trace } as const;
    const server = await DashboardServer.start({ source, port: 0, page: TEST_PAGE });
    for (const path of ['api/task/1', 'api/trace/tasks.arrow'])
      assert.equal(await codeAt(`${server.link}${path}`), 'ERR_LONGPOLE_TRACE_FORMAT', path);
    assert.match(await endOfStream(server.link), /\(ERR_LONGPOLE_TRACE_FORMAT\)$/);
    await server.close();
  });
});

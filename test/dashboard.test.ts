// The dashboard as users start it: for a running cluster, and from the command line for programs and recorded traces.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect, LocalCluster } from 'longpole';
import { WebSocket } from 'ws';
import { timeByPrefix } from '#internal/analysis/timeTables.js';
import { LiveTables } from '#internal/dashboard/source/liveTables.js';
import { decodeViewMessage } from '#internal/protocol/viewMessages.js';
import { totalsFromJson } from '#internal/trace/recording/totalsJson.js';
import { measured } from './support/measuredTasks.js';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dashboard-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const CLI = repositoryPath('dist/bundle/main.js');
const built = existsSync(repositoryPath('dist/dashboard/dashboard.html'));
const skip = built ? false : 'the pages are not built: npm run build makes them';

const { spinUntilOpen } = measured;

function double(x: number): number {
  return 2 * x;
}

function fail(): number {
  throw new RangeError('on purpose');
}

/** Reads JSON messages from the dashboard and returns the first that satisfies `is`. */
async function messageOf(link: string, is: (message: object) => boolean): Promise<object> {
  const socket = new WebSocket(`${link.replace('http', 'ws')}api/live`);
  try {
    return await new Promise<object>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the connection ended')));
      socket.on('message', (data, isBinary) => {
        if (isBinary) return;
        const message: object = JSON.parse(String(data));
        if (is(message)) resolve(message);
      });
    });
  } finally {
    socket.terminate();
  }
}

/** Returns the tables of a page that has just connected. */
async function pageOf(link: string): Promise<LiveTables> {
  const tables = new LiveTables(true);
  const socket = new WebSocket(`${link.replace('http', 'ws')}api/live`);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the connection ended')));
      socket.on('message', (data, isBinary) => {
        const message = decodeViewMessage(isBinary && Buffer.isBuffer(data) ? data : String(data));
        if (message.type === 'schema') tables.setSchema(message.table, message.bytes);
        if (message.type === 'table') tables.add(message);
        if (message.type === 'totals') tables.totals = message;
        if (message.type === 'sums') tables.sums = totalsFromJson(message.totals);
        if (message.type !== 'cursor') return;
        tables.reach(message.cursor);
        resolve();
      });
    });
  } finally {
    socket.terminate();
  }
  return tables;
}

/** Returns the start time of a running task from a message; 0 if the task does not run. */
function runningIn(message: object, key: string): number {
  const running: { readonly key: string; readonly started: number }[] = Reflect.get(message, 'running') ?? [];
  return running.find((one) => one.key === key)?.started ?? 0;
}

describe('the dashboard of a cluster', { skip }, () => {
  it('shows the tasks, workers and metrics of the cluster, and closes with the cluster', async () => {
    const cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
    const client = await connect(cluster);
    const link = client.dashboardLink ?? '';
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    assert.equal(cluster.dashboardLink, link);
    await client.gather(client.map(double, [1, 2, 3], { key: 'double' }));
    await assert.rejects(client.submit(fail, { key: 'failing' }).result());
    const totals = await messageOf(link, (message) => Reflect.get(message, 'type') === 'totals');
    const progress: Record<string, unknown>[] = Reflect.get(totals, 'progress');
    const row = progress.find(({ prefix }) => prefix === 'double');
    assert.deepEqual([row?.['total'], row?.['finished'], row?.['erred']], [3, 3, 0]);
    assert.equal(progress.find(({ prefix }) => prefix === 'failing')?.['erred'], 1);
    const workers: Record<string, unknown>[] = Reflect.get(totals, 'workers');
    assert.deepEqual(
      workers.map(({ name }) => name),
      cluster.workers,
    );
    const metrics = await (await fetch(`${link}metrics`)).text();
    assert.match(metrics, /dask_scheduler_clients 1\n/);
    const row3 = client.trace.tasks.length - 1;
    const details = await (await fetch(`${link}api/task/${client.trace.tasks.id[row3]}`)).text();
    assert.match(details, /"key":"failing"/);
    assert.match(details, /RangeError: on purpose\\n +at fail/);
    await client.close();
    await cluster.close();
    await assert.rejects(fetch(link));
  });

  it('shows the start time of a running task whose batch began with another task', async () => {
    await using cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
    await using client = await connect(cluster);
    const gates = [0, 1].map(() => new Int32Array(new SharedArrayBuffer(4)));
    const futures = gates.map((gate, i) => client.submit(spinUntilOpen, gate, { key: `spin-${i}` }));
    let started = 0;
    for (const [i, gate] of gates.entries()) {
      const message = await messageOf(client.dashboardLink ?? '', (one) => runningIn(one, `spin-${i}`) > 0);
      started = runningIn(message, `spin-${i}`);
      Atomics.store(gate, 0, 1);
    }
    await client.gather(futures);
    const { tasks } = client.trace;
    const row = [0, 1].find((one) => tasks.keyOf(one) === 'spin-1') ?? -1;
    assert.ok(Math.abs(tasks.started[row]! - started) < 1e-4, `${tasks.started[row]! - started}`);
  });

  it('counts a task once that was repeated, as the analyses do', async () => {
    await using cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
    await using client = await connect(cluster);
    await client.gather(client.map(double, [1, 2, 3], { key: 'double' }));
    const input = client.submit(fail, { key: 'failing', retries: 1 });
    await assert.rejects(client.submit(double, input, { key: 'needing' }).result());
    const page = await pageOf(client.dashboardLink ?? '');
    const { rows } = timeByPrefix(page.trace());
    assert.deepEqual(rows, timeByPrefix(client.trace).rows);
    const failing = rows.find((row) => row['Prefix'] === 'failing');
    assert.deepEqual([failing?.['Tasks'], failing?.['Erred']], [1, 1]);
  });

  it('does not start without the option `dashboard`', async () => {
    await using cluster = await LocalCluster.start({ workers: 1 });
    assert.equal(cluster.dashboardLink, undefined);
  });

  it('does not keep a program alive', async () => {
    const script = join(folder, 'ends.mjs');
    const from = JSON.stringify(repositoryPath('dist/bundle/index.js'));
    writeFileSync(
      script,
      `import { LocalCluster } from ${from};
       const cluster = await LocalCluster.start({ workers: 1, dashboard: { port: 0 } });
       console.log(cluster.dashboardLink);`,
    );
    const { code, stdout, stderr } = await runCommand(process.execPath, [script]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^http:/);
  });
});

async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  const { stdout } = child;
  if (stdout === null) return text;
  for await (const part of stdout) {
    text += String(part);
    if (text.includes('\n')) break;
  }
  return text.trim();
}

describe('longpole run', { skip }, () => {
  it('serves the dashboard of local schedulers with the running task, and the last rows when the program ends', async () => {
    const script = join(folder, 'local.mjs');
    const open = join(folder, 'open');
    const from = JSON.stringify(repositoryPath('dist/bundle/index.js'));
    writeFileSync(
      script,
      `import { delayed } from ${from};
      const held = delayed(async (open) => {
        const { existsSync } = await import('node:fs');
        while (!existsSync(open)) await new Promise((resolve) => setTimeout(resolve, 20));
        return 7;
      });
      console.log(await held.withOptions({ key: 'held-1' })(${JSON.stringify(open)}).compute({ numWorkers: 1, callbacks: [] }));`,
    );
    const child = spawn(process.execPath, [CLI, 'run', '--port', '0', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exit = once(child, 'exit');
    const link = await new Promise<string>((resolve) => {
      let output = '';
      child.stderr.on('data', (text) => {
        output += String(text);
        const [, found] = /dashboard at (\S+)/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    await messageOf(link, (message) => runningIn(message, 'held-1') > 0);
    // A page that is open at the end of the program receives the last rows, and why the server ended.
    const closed = messageOf(link, (message) => {
      if (runningIn(message, 'held-1') > 0) writeFileSync(open, '');
      return Reflect.get(message, 'type') === 'closed';
    });
    assert.equal(await firstLine(child), '7');
    assert.deepEqual(await closed, { type: 'closed', reason: 'The program has ended.', complete: true });
    assert.deepEqual((await exit)[0], 0);
  });
});

describe('longpole view', () => {
  const trace = join(folder, 'trace.json');
  const task = { ph: 'X', name: 'load', cat: 'task', pid: 1, tid: 1, ts: 1, dur: 5 };
  writeFileSync(trace, JSON.stringify({ traceEvents: [task] }));

  it('serves a recorded trace until it is interrupted', { skip }, async () => {
    const child = spawn(process.execPath, [CLI, 'view', trace, '--port', '0', '--no-open'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    const link = await firstLine(child);
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    const begin = await messageOf(link, (message) => Reflect.get(message, 'type') === 'begin');
    assert.equal(Reflect.get(begin, 'title'), 'trace.json');
    await messageOf(link, (message) => Reflect.get(message, 'type') === 'complete');
    assert.match(await (await fetch(link)).text(), /^<!doctype html>/i);
    child.kill('SIGINT');
    assert.deepEqual((await exit)[0], 0);
  });

  it('can be interrupted as soon as it has printed its link', { skip }, async () => {
    const child = spawn(process.execPath, [CLI, 'view', trace, '--port', '0', '--no-open'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    await firstLine(child);
    child.kill('SIGINT');
    assert.deepEqual((await exit)[0], 0);
  });

  it('ends with 2 if the trace is missing or the port is invalid', async () => {
    const nothing = await runCommand(process.execPath, [CLI, 'view', join(folder, 'none.json')]);
    assert.equal(nothing.code, 2);
    assert.match(nothing.stderr, /none\.json/);
    const nowhere = await runCommand(process.execPath, [CLI, 'view', trace, '--port', '70000']);
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.stderr, /Pass a whole number from 0 to 65535/);
    assert.equal((await runCommand(process.execPath, [CLI, 'view'])).code, 2);
  });
});

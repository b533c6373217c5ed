import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { RECORDED_TABLES } from '../protocol/traceSchema.js';
import { expectedTasks, restOf, tasksOf } from '../trace/live/plainRows.test.support.js';
import { TableBytes } from '../trace/recording/tableBytes.test.support.js';
import { totalsFromJson } from '../trace/recording/totalsJson.js';
import { frameRule } from './access.js';
import { ask } from './askDashboard.test.support.js';
import { ScriptedCluster, TEST_PAGE, TestPage } from './dashboard.test.support.js';
import { DashboardServer } from './dashboardServer.js';
import { DEFAULT_LIMITS } from './outlet.js';
import { Routes } from './routes.js';
import type { RecordedSource } from './source.js';
import { Stream } from './stream.js';
import type { taskDetails } from './taskDetails.js';

const STORY = { seed: 11, sizes: [30, 700, 5, 90], workers: 3, batch: 7 };

async function served(): Promise<{ server: DashboardServer; cluster: ScriptedCluster }> {
  const cluster = new ScriptedCluster(STORY);
  cluster.play();
  const server = await DashboardServer.start({
    source: { kind: 'recorded', title: 'a trace', facts: {}, trace: cluster.trace.snapshot() },
    port: 0,
    page: TEST_PAGE,
  });
  return { server, cluster };
}

describe('a recorded trace', () => {
  it('is sent whole, with its sums and a message that it is complete', async () => {
    const { server, cluster } = await served();
    const page = new TestPage();
    await page.connect(server.link);
    while (page.texts.at(-1)?.type !== 'complete') await page.until(() => true);
    const trace = page.trace();
    assert.deepEqual(tasksOf(trace), expectedTasks(cluster.played));
    assert.deepEqual(restOf(trace), restOf(cluster.trace.snapshot()));
    const [begin] = page.texts;
    assert.ok(begin?.type === 'begin' && begin.source === 'recorded' && begin.title === 'a trace');
    const sums = page.texts.find((message) => message.type === 'sums');
    assert.deepEqual(totalsFromJson(sums?.totals)?.states, cluster.trace.snapshot().totals.states);
    await server.close();
  });

  it('can be read table by table', async () => {
    const { server, cluster } = await served();
    const tables = new TableBytes();
    for (const table of RECORDED_TABLES) {
      const response = await fetch(`${server.link}api/trace/${table}.arrow`);
      assert.equal(response.headers.get('content-type'), 'application/vnd.apache.arrow.stream');
      tables.add(table, [new Uint8Array(await response.arrayBuffer())]);
    }
    assert.deepEqual(tasksOf(tables.trace()), expectedTasks(cluster.played));
    assert.deepEqual(restOf(tables.trace()), restOf(cluster.trace.snapshot()));
    assert.equal((await fetch(`${server.link}api/trace/others.arrow`)).status, 404);
    assert.equal((await fetch(`${server.link}metrics`)).status, 404);
    await server.close();
  });

  it('has all details of a task', async () => {
    const { server, cluster } = await served();
    const played = expectedTasks(cluster.played);
    const trace = cluster.trace.snapshot();
    const ofTask = async (id: unknown): Promise<NonNullable<ReturnType<typeof taskDetails>>> =>
      JSON.parse(await (await fetch(`${server.link}api/task/${id}`)).text());
    const needsOf = (id: unknown): unknown => played.find((task) => task['id'] === id)?.['needs'];
    const dependent = played.find(({ needs }) => Array.isArray(needs) && needs.length > 1);
    assert.ok(dependent !== undefined);
    const details = await ofTask(dependent['id']);
    assert.equal(details.key, dependent.key);
    assert.equal(details.prefix, dependent.prefix);
    assert.deepEqual(
      details.dependencies.map(({ key }) => key),
      needsOf(details.id),
    );
    const runs = played.filter(({ id }) => id === details.id);
    assert.deepEqual(
      details.runs.map(({ state, worker, attempt, started }) => [state, worker, attempt, started]),
      runs.map((run) => [
        run.state,
        run.worker,
        run['attempt'],
        Number.isNaN(run['started']) ? null : run['started'],
      ]),
    );
    for (const { id } of details.dependencies.filter((one) => one.id >= 0)) {
      const needed = await ofTask(id);
      assert.ok(needed.dependents.some((one) => one.id === details.id));
      assert.equal(needed.dependentCount, needed.dependents.length);
    }
    const withInterval = trace.intervals.task.find((id) => trace.tasks.id.includes(id));
    assert.ok((await ofTask(withInterval)).intervals.length > 0);
    const moved = trace.keys.get(trace.transfers.keys[0]!);
    const movedTask = played.find(({ key }) => key === moved);
    assert.ok((await ofTask(movedTask?.['id'])).transfers.length > 0);
    await server.close();
  });
});

/** Returns a trace with more bytes than the buffers of the system can hold. */
function largeSource(): RecordedSource {
  const cluster = new ScriptedCluster(STORY);
  const text = 'x'.repeat(2 ** 17);
  for (let time = 1; time <= 300; time++)
    cluster.trace.event({ time, worker: -1, topic: 'log', text: `${time} ${text}` });
  return { kind: 'recorded', title: 'a trace', facts: {}, trace: cluster.trace.snapshot() };
}

describe('a viewer of a recorded trace that reads nothing', () => {
  it('is disconnected even if the whole trace was sent', async () => {
    const limits = { ...DEFAULT_LIMITS, maxBuffered: Number.POSITIVE_INFINITY, stuckMs: 50 };
    const stream = new Stream(largeSource(), limits);
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    await once(server, 'listening');
    const ended = new Promise((resolve) => {
      server.once('connection', (socket, request) => {
        socket.once('close', resolve);
        stream.connect(socket, request.socket, new URLSearchParams());
      });
    });
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
    client.on('error', () => undefined);
    client.on('open', () => client.pause());
    await ended;
    assert.equal(stream.viewers, 0);
    client.terminate();
    server.close();
  });

  it('is disconnected from the answer with a table', async () => {
    const rules = { names: new Set<string>(), token: undefined, cookie: '', frames: frameRule() };
    const source = largeSource();
    const routes = new Routes(rules, source, new Stream(source, DEFAULT_LIMITS), TEST_PAGE, 50);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const path = '/api/trace/events.arrow';
    const client = get({ host: '127.0.0.1', port: address.port, path }, (answer) => void answer.pause());
    client.on('error', () => undefined);
    const ended = new Promise<boolean>((resolve) => {
      server.once('request', (request, response) => {
        response.once('close', () => resolve(response.writableFinished));
        routes.answer(request, response);
      });
    });
    assert.equal(await ended, false);
    client.destroy();
    server.close();
  });
});

describe('a request that offers HTTP/2', () => {
  const path = '/api/trace/events.arrow';
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };

  it('receives an answer that is larger than the buffers of the system', async () => {
    const server = await DashboardServer.start({ source: largeSource(), port: 0, page: TEST_PAGE });
    const { body } = await ask(server, path, { headers: offer });
    assert.ok(body.length > 2 ** 25);
    await server.close();
  });

  for (const [what, asked, reads] of [
    ['reads nothing of its answer', path, false],
    ['does not end its side', '/health', true],
  ] as const)
    it(`is disconnected if the client ${what}`, async () => {
      const source = reads ? new ScriptedCluster(STORY).source() : largeSource();
      const server = await DashboardServer.start({
        ...{ source, port: 0, page: TEST_PAGE },
        limits: reads ? {} : { stuckMs: 50 },
      });
      const accepted = new Promise<Socket>((resolve) => {
        const take = (message: unknown): void => {
          const socket: unknown = Reflect.get(Object(message), 'socket');
          assert.ok(socket instanceof Socket);
          unsubscribe('net.server.socket', take);
          resolve(socket);
        };
        subscribe('net.server.socket', take);
      });
      const client = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true });
      client.on('error', () => undefined);
      if (reads) client.resume();
      const lines = Object.entries({ host: 'localhost', ...offer }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      client.write(`GET ${asked} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      await once(await accepted, 'close');
      client.destroy();
      await server.close();
    });
});

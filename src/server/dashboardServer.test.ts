import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { MAX_PAGE_MESSAGE_BYTES } from '../protocol/viewMessages.js';
import { type Answer, ask, askSocket } from './askDashboard.test.support.js';
import { ScriptedCluster, TEST_PAGE, TestPage } from './dashboard.test.support.js';
import { DashboardServer } from './dashboardServer.js';

const TOKEN = 'a-secret-of-the-test-0001';
const STORY = { seed: 5, sizes: [20, 40], workers: 2, batch: 7 };

function started(
  options: { token?: string; host?: string; names?: string[]; frameAncestors?: string[] } = {},
): Promise<DashboardServer> {
  const cluster = new ScriptedCluster(STORY);
  cluster.play();
  return DashboardServer.start({ source: cluster.source(), port: 0, page: TEST_PAGE, ...options });
}

describe('the server of the dashboard', () => {
  let server: DashboardServer;
  before(async () => {
    server = await started();
  });
  after(() => server.close());

  it('redirects the paths of the pages of Dask to its own pages', async () => {
    const expected = {
      '/status': './#status',
      '/workers': './#workers',
      '/tasks': './#stream',
      '/system': './#system',
      '/profile': './#profile',
      '/profile-server': './#profile?of=scheduler',
      '/graph': './#graph',
      '/groups': './#groups',
      '/stealing': './#workers',
      '/info/main/logs.html': './../../#logs',
    };
    for (const [path, location] of Object.entries(expected)) {
      const { status, headers } = await ask(server, `${path}?theme=dark`);
      assert.deepEqual([status, headers.location], [303, location], path);
    }
    for (const path of ['/shuffle', '/counters', '/constructor', '/status/', '/info/main/x.html'])
      assert.equal((await ask(server, path)).status, 404, path);
  });

  it('lists its individual plots as Dask does, and serves the page at every listed path', async () => {
    const { body, headers } = await ask(server, '/individual-plots.json');
    assert.match(String(headers['content-type']), /^application\/json/);
    const plots: Record<string, string> = JSON.parse(body);
    assert.equal(plots['Individual Task Stream'], '/individual-task-stream');
    assert.equal(plots['Individual Aggregate Time Per Action'], '/individual-aggregate-time-per-action');
    assert.equal(plots['Individual Cpu'], '/individual-cpu');
    for (const path of Object.values(plots)) {
      const page = await ask(server, path);
      assert.deepEqual([page.status, page.body], [200, TEST_PAGE.html.toString()], path);
      assert.equal(page.headers['x-frame-options'], 'DENY', path);
    }
    // Longpole has no counterparts of these plots.
    for (const name of ['rmm-memory', 'workers-transfer-bytes', 'nothing', 'constructor', 'plots']) {
      assert.equal(plots[`Individual ${name}`], undefined);
      const { status, body: text } = await ask(server, `/individual-${name}`);
      assert.deepEqual(
        [status, text],
        [404, 'The dashboard has no plot of this name; /individual-plots.json lists its plots.\n'],
        name,
      );
    }
  });

  it('serves its page under a strict policy, and forbids framing, sniffing and caching of every answer', async () => {
    const page = await ask(server, '/');
    assert.equal(page.status, 200);
    assert.equal(page.body, TEST_PAGE.html.toString());
    const policy = `${TEST_PAGE.contentSecurityPolicy}; frame-ancestors 'none'`;
    assert.equal(page.headers['content-security-policy'], policy);
    for (const path of ['/', '/health', '/metrics', '/api/task/1000', '/nothing']) {
      const { headers } = await ask(server, path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
      assert.equal(headers['x-frame-options'], 'DENY', path);
      assert.equal(headers['cache-control'], 'no-store', path);
      assert.equal(headers['referrer-policy'], 'no-referrer', path);
      assert.match(
        String(headers['content-security-policy']),
        /^default-src 'none'.*frame-ancestors 'none'$/,
        path,
      );
      assert.equal(headers['access-control-allow-origin'], undefined, path);
    }
  });

  it('answers health, metrics and tasks', async () => {
    const health: unknown = JSON.parse((await ask(server, '/health')).body);
    assert.deepEqual(health, { status: 'ok', source: 'live', title: 'scripted', viewers: 0 });
    assert.match((await ask(server, '/metrics')).body, /dask_scheduler_clients 1\n/);
    const task: { id: number } = JSON.parse((await ask(server, '/api/task/1000')).body);
    assert.equal(task.id, 1000);
    assert.equal((await ask(server, '/api/task/999999')).status, 404);
  });

  it('listens only at 127.0.0.1', async () => {
    assert.match(server.link, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: '127.0.0.2', port: server.port });
      socket.on('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    assert.equal(reached, false);
  });

  it('refuses requests with another host name (DNS rebinding)', async () => {
    const { port } = server;
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.evil.example`,
      `127.0.0.1:${port}@evil.example`,
      'a b',
      'x'.repeat(400),
    ]) {
      const { status } = await ask(server, '/', { headers: { host } });
      assert.ok(status === 403 || status === 400, `${host}: ${status}`);
      assert.notEqual(await askSocket(server, '/api/live', { host }), 101, host);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST'])
      assert.equal((await ask(server, '/', { headers: { host } })).status, 200, host);
  });

  it('opens a WebSocket for its own page, but not for a page of another site', async () => {
    const { port } = server;
    for (const origin of [
      'http://evil.example',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `http://localhost:${port}`,
      `https://127.0.0.1.evil.example:${port}`,
      'file://',
      '',
    ])
      assert.equal(await askSocket(server, '/api/live', { origin }), 403, origin);
    assert.equal(await askSocket(server, '/api/live', { origin: `http://127.0.0.1:${port}` }), 101);
    assert.equal(await askSocket(server, '/api/live'), 101);
    assert.equal(await askSocket(server, '/api/other'), 404);
  });

  it('answers a request that offers HTTP/2 as if it offered nothing', async () => {
    const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    const { status, body, headers } = await ask(server, '/health', { headers: offer });
    assert.deepEqual([status, headers.connection], [200, 'close']);
    assert.match(body, /"status":"ok"/);
    const denied = { ...offer, host: 'evil.example' };
    assert.equal((await ask(server, '/health', { headers: denied })).status, 403);
  });

  it('answers only known paths', async () => {
    for (const path of [
      '/../package.json',
      '/..%2f..%2fpackage.json',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/....//....//etc/passwd',
      '//etc/passwd',
      '/\\evil.example',
      '/api/trace/../../../etc/passwd.arrow',
      '/api/trace/tasks.arrow%00',
      '/api/trace/%2e%2e%2fmeta.json',
      '/api/task/../../etc/passwd',
      '/api/task/1e3',
      '/api/task/-1',
      '/api/task/99999999999999999999',
      '/dashboard.html',
      '\\..\\package.json',
      '/%',
      'http://127.0.0.1/',
      '*',
    ]) {
      const { status, body } = await ask(server, path);
      assert.ok(status === 404 || status === 400, `${path}: ${status}`);
      assert.ok(!body.includes('longpole"') && !body.includes('root:'), path);
    }
  });

  it('says what is wrong with a path that it cannot answer', async () => {
    for (const id of ['', 'NaN', '-1', '1e3', '1.5', '99999999999999999999', '12/34']) {
      const { status, body } = await ask(server, `/api/task/${id}`);
      assert.deepEqual([status, body.split(' is ')[0]], [400, 'The id of a task'], id);
    }
    assert.match((await ask(server, '/api/task/9007199254740991')).body, /no run of this task/);
    assert.match(
      (await ask(server, '/api/trace/nothing.arrow')).body,
      /recorded trace .* has these: .*tasks,/,
    );
    const live = await ask(server, '/api/live');
    assert.deepEqual([live.status, live.headers.upgrade], [426, 'websocket']);
  });

  it('refuses every method but GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
      assert.equal((await ask(server, '/', { method })).status, 405, method);
    assert.equal((await ask(server, '/', { method: 'HEAD' })).body, '');
  });

  it('refuses long URLs and large headers', async () => {
    assert.equal((await ask(server, `/?${'a'.repeat(3000)}`)).status, 414);
    assert.equal((await ask(server, '/', { headers: { 'x-large': 'a'.repeat(20_000) } })).status, 431);
  });

  it('disconnects a page that sends a long or unknown message', async () => {
    for (const [said, code] of [
      [`{"type":"pause","x":"${'a'.repeat(MAX_PAGE_MESSAGE_BYTES)}"}`, 1009],
      ['{"type":"run","code":"process.exit()"}', 1008],
      ['not JSON', 1008],
      ['null', 1008],
    ] as const) {
      const page = new TestPage();
      await page.connect(server.link);
      const ended = page.ended();
      page.send(said);
      assert.equal(await ended, code, said.slice(0, 40));
    }
  });

  it('limits the number of pages, with a message for a page beyond the limit', async () => {
    const cluster = new ScriptedCluster(STORY);
    const crowded = await DashboardServer.start({
      source: cluster.source(),
      port: 0,
      page: TEST_PAGE,
      limits: { maxViewers: 1 },
    });
    const page = new TestPage();
    await page.connect(crowded.link);
    const socket = new WebSocket(`ws://127.0.0.1:${crowded.port}/api/live`);
    const [code, reason]: unknown[] = await once(socket, 'close');
    assert.equal(code, 1013);
    assert.equal(
      String(reason),
      'This dashboard has reached its limit of open pages (1). Close another one.',
    );
    assert.equal(crowded.viewers, 1);
    await crowded.close();
  });
});

describe('a dashboard that requires a token', () => {
  it('refuses the page, the trace and the WebSocket without the token', async () => {
    const server = await started({ token: TOKEN });
    const cookie = `longpole-${server.port}`;
    for (const path of ['/', '/health', '/metrics', '/api/task/1000', '/nothing']) {
      const { status, headers: required } = await ask(server, path);
      assert.deepEqual([status, required['www-authenticate']], [401, 'Bearer'], path);
      for (const wrong of ['', 'a', `${TOKEN}x`, TOKEN.slice(1), encodeURIComponent('ä')])
        assert.equal((await ask(server, `${path}?token=${wrong}`)).status, 401, wrong);
      const headers = { cookie: `${cookie}=wrong; longpole-1=${TOKEN}` };
      assert.equal((await ask(server, path, { headers })).status, 401);
    }
    assert.equal(await askSocket(server, '/api/live'), 401);
    assert.equal(await askSocket(server, '/api/live?token=wrong'), 401);
    await server.close();
  });

  it('allows requests with the token, and removes the token from the URL', async () => {
    const server = await started({ token: TOKEN });
    assert.equal(server.link, `http://127.0.0.1:${server.port}/?token=${TOKEN}`);
    const first = await ask(server, `/?token=${TOKEN}`);
    assert.equal(first.status, 303);
    // Relative, because a proxy may have removed a prefix from the path.
    assert.equal(first.headers.location, './');
    const [cookie] = first.headers['set-cookie'] ?? [];
    assert.match(String(cookie), /; HttpOnly; SameSite=Lax; Path=\/$/);
    const headers = { cookie: String(cookie).split(';')[0] ?? '' };
    assert.equal((await ask(server, '/', { headers })).status, 200);
    assert.equal(await askSocket(server, '/api/live', headers), 101);
    assert.equal(
      (await ask(server, '/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).status,
      200,
    );
    // The browser sends the cookie for pages of other sites too, but their Origin header differs.
    const origin = 'http://evil.example';
    assert.equal(await askSocket(server, '/api/live', { ...headers, origin }), 403);
    await server.close();
  });

  it('is the default at every address but 127.0.0.1, with a random token', async () => {
    const servers = [await started({ host: '0.0.0.0' }), await started({ host: '0.0.0.0' })];
    const tokens = servers.map(({ link }) => new URL(link).searchParams.get('token') ?? '');
    assert.match(tokens[0]!, /^[\w-]{24}$/);
    assert.notEqual(tokens[0], tokens[1]);
    assert.equal((await ask(servers[0]!, '/')).status, 401);
    assert.equal((await ask(servers[0]!, `/health?token=${tokens[0]}`)).status, 200);
    for (const server of servers) await server.close();
  });

  it('refuses short or invalid tokens, and allows the given host names', async () => {
    const code = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
    for (const token of ['', 'short', 'with spaces in it, long enough', 'x'.repeat(300)])
      await assert.rejects(started({ token }), code, token);
    const server = await started({ names: ['Proxy.example'] });
    assert.equal((await ask(server, '/', { headers: { host: 'proxy.example' } })).status, 200);
    await server.close();
  });
});

describe('a dashboard in frames of other pages', () => {
  const frameHeaders = ({ headers }: Answer) => [
    /frame-ancestors [^;]*$/.exec(String(headers['content-security-policy']))?.[0],
    headers['x-frame-options'],
  ];

  it('is allowed for the given origins, and only for pages', async () => {
    const origins = ['self', 'http://localhost:8888', 'https://*.example', 'http://[::1]:*'];
    const server = await started({ frameAncestors: origins });
    const policy = "frame-ancestors 'self' http://localhost:8888 https://*.example http://[::1]:*";
    for (const path of ['/', '/individual-progress'])
      assert.deepEqual(frameHeaders(await ask(server, path)), [policy, undefined], path);
    for (const path of ['/health', '/individual-plots.json', '/individual-nothing'])
      assert.deepEqual(frameHeaders(await ask(server, path)), ["frame-ancestors 'none'", 'DENY'], path);
    await server.close();
    const own = await started({ frameAncestors: ['self'] });
    assert.deepEqual(frameHeaders(await ask(own, '/')), ["frame-ancestors 'self'", 'SAMEORIGIN']);
    await own.close();
  });

  it('keeps the token in the URL of an individual plot, because frames of other sites have no cookie', async () => {
    const path = `/individual-progress?token=${TOKEN}`;
    const framed = await started({ token: TOKEN, frameAncestors: ['http://localhost:8888'] });
    assert.equal((await ask(framed, path)).status, 200);
    assert.equal((await ask(framed, '/individual-progress')).status, 401);
    assert.equal((await ask(framed, '/individual-plots.json')).status, 401);
    await framed.close();
    const server = await started({ token: TOKEN });
    for (const [given, location] of [
      [path, './individual-progress'],
      [`/status?token=${TOKEN}`, './#status'],
    ] as const) {
      const { status, headers } = await ask(server, given);
      assert.deepEqual([status, headers.location], [303, location]);
      assert.match(String(headers['set-cookie']), /HttpOnly/);
    }
    await server.close();
  });

  it('is refused for values that are no origins', async () => {
    for (const one of [
      '*',
      "'self'",
      'http://a b',
      'http://a; script-src *',
      'http://a/path',
      'localhost',
      '',
    ])
      await assert.rejects(
        started({ frameAncestors: [one] }),
        { code: 'ERR_LONGPOLE_INVALID_ARGUMENT', message: /^frameAncestors: expected an array of origins/ },
        one,
      );
  });
});

describe('the address of a dashboard', () => {
  it('is named in the error if the server cannot listen there', async () => {
    const server = await started();
    const source = new ScriptedCluster(STORY).source();
    const page = TEST_PAGE;
    await assert.rejects(DashboardServer.start({ source, page, port: server.port }), {
      code: 'ERR_LONGPOLE_DASHBOARD',
      message: /port \d+: the port is taken/,
    });
    await assert.rejects(DashboardServer.start({ source, page, port: 0, host: '203.0.113.1' }), {
      code: 'ERR_LONGPOLE_DASHBOARD',
    });
    for (const port of [-1, 70_000, 1.5, Number.NaN])
      await assert.rejects(DashboardServer.start({ source, page, port }), {
        code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
      });
    await server.close();
  });

  it('has any free port if no port is given and the default port is taken', async () => {
    const source = new ScriptedCluster(STORY).source();
    const first = await DashboardServer.start({ source, page: TEST_PAGE });
    const second = await DashboardServer.start({ source, page: TEST_PAGE });
    assert.notEqual(first.port, second.port);
    await first.close();
    await second.close();
  });
});

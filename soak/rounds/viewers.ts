// 64 pages show a dashboard while the cluster computes, and some of them never read. Every result is correct, the
// reading pages receive every task, and the server refuses a further page.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, LocalCluster } from 'longpole';
import { WebSocket } from 'ws';
import { Pages } from '../../bench/pages.js';
import type { Round, RoundContext } from '../round.js';
import { SHAPES } from '../shapes.js';

const PAGES = 64;
const GRAPHS = 12;

/** Opens a page that never reads. */
async function stuckPage(link: string): Promise<WebSocket> {
  const socket = new WebSocket(`${link.replace('http', 'ws')}api/live`);
  await once(socket, 'open');
  // The server disconnects such a page after a while.
  socket.on('error', () => socket.terminate());
  socket.pause();
  return socket;
}

/** Returns the server's reason for refusing a page. */
async function refusal(link: string): Promise<string> {
  const socket = new WebSocket(`${link.replace('http', 'ws')}api/live`);
  const [code, reason]: unknown[] = await once(socket, 'close');
  return `${code} ${reason}`;
}

async function run(context: RoundContext, processes: boolean): Promise<void> {
  const { random } = context;
  const stuck = random.below(PAGES / 2);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({ workers: 2, processes, dashboard: { port: 0 } });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const link = cluster.dashboardLink ?? assert.fail('There is no dashboard.');
  context.doing(`opens ${PAGES - stuck} pages`);
  const readers = new Pages(link);
  await readers.open(PAGES - stuck, 0);
  context.doing(`opens ${stuck} pages that never read`);
  const pages = await Promise.all(Array.from({ length: stuck }, () => stuckPage(link)));
  assert.match(await refusal(link), /^1013 .*limit of open pages \(64\)/);
  for (let index = 0; index < GRAPHS; index++) {
    const name = random.pick(Object.keys(SHAPES));
    context.doing(`graph ${index}: ${name}`);
    await context.timed(name, () => SHAPES[name]!(client, random.fork()));
    context.count('inputs');
  }
  context.doing('opens a late page, which receives every task');
  await readers.open(1, 0);
  await readers.open(
    2,
    client.trace.totals.states.reduce((sum, count) => sum + count, 0),
  );
  readers.close();
  for (const page of pages) page.terminate();
  context.doing('closes');
}

export const viewers: Round = {
  name: 'viewers',
  checks: 'A cluster computes while 64 pages are open, some of which never read.',
  run: (context) => run(context, false),
};

export const viewersOfProcesses: Round = {
  name: 'viewers-processes',
  checks: 'The same holds for a cluster with workers that are processes.',
  run: (context) => run(context, true),
};

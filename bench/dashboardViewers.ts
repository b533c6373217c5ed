// Pages for bench/dashboard.ts, in a separate process, which read everything and keep nothing. An input line has the
// number of pages and the number of tasks. The output line follows when all pages are connected and have received the
// tasks. It has the received bytes and the CPU seconds of this process.
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const link = process.argv[2] ?? '';
const pages: WebSocket[] = [];
let bytes = 0;

function connect(tasks: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${link.replace('http', 'ws')}api/live`);
    pages.push(socket);
    socket.on('error', reject);
    socket.on('message', (data, isBinary) => {
      bytes += Buffer.isBuffer(data) ? data.length : 0;
      if (isBinary) return;
      const seen = /^{"type":"cursor".*"tasks":(\d+)/.exec(String(data))?.[1];
      if (Number(seen) >= tasks) resolve();
    });
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const [count = 0, tasks = 0] = line.split(' ').map(Number);
  for (const socket of pages.splice(count)) socket.terminate();
  while (pages.length < count) await connect(tasks);
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${bytes} ${(user + system) / 1e6}\n`);
}

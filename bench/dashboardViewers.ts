// Pages for bench/dashboard.ts, in a process of their own: they connect, take everything and keep nothing. Each line of the
// input says how many there should be, and how many tasks there are; each line of the output that they are there and have
// caught up, the bytes that came so far, and the seconds of CPU that this process took.
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

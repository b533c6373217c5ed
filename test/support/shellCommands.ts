// Lets shell scripts run commands of `longpole` in one process: a script connects to a port of this process, sends its
// arguments, and prints the answer.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after } from 'node:test';
import type { RunLongpole } from './longpoleCommands.js';

/** Name of the variable with the port. */
const PORT = 'LONGPOLE_TEST_PORT';

/** Lines of bash that replace the script by the command that its arguments name. */
export const RUN_IN_PROCESS = `exec 3<> "/dev/tcp/127.0.0.1/$${PORT}"
printf '%s\\0' "$#" "$PWD" "$@" >&3
read -r code out err <&3
head -c "$out" <&3
head -c "$err" <&3 >&2
exit "$code"`;

/** Returns the variables of the environment that RUN_IN_PROCESS needs. */
export async function serveShells(run: RunLongpole): Promise<NodeJS.ProcessEnv> {
  const server = createServer((socket) => void answer(socket, run)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return { [PORT]: String(address.port) };
}

async function answer(socket: Socket, run: RunLongpole): Promise<void> {
  let received = '';
  for await (const text of socket.setEncoding('utf8')) {
    received += text;
    const [count, cwd = '', ...args] = received.split('\0');
    // The part behind the last zero is empty.
    if (args.length <= Number(count)) continue;
    const { code, stdout, stderr } = await run(args.slice(0, -1), { cwd });
    const sizes = [stdout, stderr].map((output) => Buffer.byteLength(output));
    socket.end(`${code} ${sizes.join(' ')}\n${stdout}${stderr}`);
    return;
  }
}

// A connection to the server of a worker process that carries messages instead of results.
import { connect, type Socket } from 'node:net';
import { connectionTo } from './peerAddress.js';
import { encodeHello, encodeMessages } from './transferMessages.js';

/** Requests a connection for messages. The worker process sends the first bytes. */
export function messageConnection(address: string, token: string): Socket {
  const socket = connect({ ...connectionTo(address), noDelay: true });
  socket.write(encodeHello({ worker: -1, token }));
  socket.write(encodeMessages());
  return socket;
}

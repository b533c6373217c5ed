// A connection to the server of a worker process that carries messages instead of results.
import type { Socket } from 'node:net';
import { connectToPeer } from './peerSocket.js';
import { encodeHello, encodeMessages } from './transferMessages.js';

/** Requests a connection for messages. The worker process sends the first bytes. */
export function messageConnection(address: string, token: string): Socket {
  const socket = connectToPeer(address, token);
  socket.write(encodeHello({ worker: -1, token }));
  socket.write(encodeMessages());
  return socket;
}

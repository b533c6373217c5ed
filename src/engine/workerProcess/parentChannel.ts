// The channel from a worker process to the cluster. A child of the program uses Node's channel. A process that another
// program has started reads messages from its standard input and writes them to the descriptor in CHANNEL_VARIABLE, or
// uses a direct connection of the cluster.
import { Socket } from 'node:net';
import type { FromWorker, ToWorker } from '../../protocol/workerMessages.js';
import { ipcChannel, type ParentChannel } from '../worker/parentChannel.js';
import { encodeMessage } from './messageCodec.js';
import { RoutedMessages } from './routedMessages.js';

interface ClusterChannel extends ParentChannel<ToWorker, FromWorker> {
  /** Uses a direct connection of the cluster from now on. Without it there are none. */
  readonly accept?: (socket: Socket) => void;
}

/** Descriptor for messages to the cluster. Without it Node's own channel is used. */
const CHANNEL_VARIABLE = 'LONGPOLE_CHANNEL';

function streamChannel(descriptor: number): ClusterChannel {
  const output = new Socket({ fd: descriptor, readable: false, writable: true });
  let connected = true;
  let deliver: (message: ToWorker) => void = () => undefined;
  const messages = new RoutedMessages<ToWorker>(
    (packet) => void output.write(packet),
    (message) => deliver(message),
  );
  return {
    get connected() {
      return connected;
    },
    send: (message, written) => {
      // The pipe keeps the last message of a process that ends. Earlier messages may be lost.
      if (message.type === 'giving-up') output.write(encodeMessage(message), written);
      else messages.send(encodeMessage(message));
    },
    accept: (socket) => messages.accept(socket),
    receive: (onMessage, onEnd) => {
      deliver = onMessage;
      const end = (): void => {
        connected = false;
        onEnd();
      };
      process.stdin.on('data', (chunk: Buffer) => messages.receive(chunk));
      process.stdin.once('end', end);
      process.stdin.once('error', end);
      output.once('error', end);
      // A terminal or a batch system signals every process of a job. The Dask worker closes then, and ends this process when
      // its results have been moved.
      for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
    },
  };
}

export function openParentChannel(): ClusterChannel {
  const descriptor = process.env[CHANNEL_VARIABLE];
  // Processes that a task starts must not use this channel.
  delete process.env[CHANNEL_VARIABLE];
  return descriptor === undefined ? ipcChannel() : streamChannel(Number(descriptor));
}

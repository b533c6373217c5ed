// A worker process's channel to the cluster: Node's own for a child of the program; for a process that another program has
// started, frames on the standard input, and frames on the descriptor that the environment names.
import { Socket } from 'node:net';
import type { FromWorker, ToWorker } from '../../protocol/workerMessages.js';
import { encodeMessage, MessageDecoder } from './frameCodec.js';

export interface ParentChannel {
  readonly connected: boolean;
  /** Throws if the message cannot be copied. `written` is called when the system has it, or with the error. */
  send(message: FromWorker, written: (error?: Error | null) => void): void;
  /** Calls back with each message, and once when the cluster is gone. */
  receive(onMessage: (message: ToWorker) => void, onEnd: () => void): void;
}

/** Descriptor for frames to the cluster. Without it Node's own channel is used. */
export const CHANNEL_VARIABLE = 'LONGPOLE_CHANNEL';

const ipcChannel: ParentChannel = {
  get connected() {
    return process.connected;
  },
  send: (message, written) => void process.send?.(message, undefined, undefined, written),
  receive: (onMessage, onEnd) => {
    process.on('message', onMessage);
    process.on('disconnect', onEnd);
  },
};

/** What the cluster sends is of one kind. */
function isToWorker(value: unknown): value is ToWorker {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function frameChannel(descriptor: number): ParentChannel {
  const output = new Socket({ fd: descriptor, readable: false, writable: true });
  let connected = true;
  return {
    get connected() {
      return connected;
    },
    send: (message, written) => void output.write(encodeMessage(message), written),
    receive: (onMessage, onEnd) => {
      const decoder = new MessageDecoder();
      const end = (): void => {
        connected = false;
        onEnd();
      };
      process.stdin.on('data', (chunk: Buffer) => {
        for (const message of decoder.push(chunk)) if (isToWorker(message)) onMessage(message);
      });
      process.stdin.once('end', end);
      process.stdin.once('error', end);
      output.once('error', end);
    },
  };
}

export function openParentChannel(): ParentChannel {
  const descriptor = process.env[CHANNEL_VARIABLE];
  // What a task starts has channels of its own.
  delete process.env[CHANNEL_VARIABLE];
  return descriptor === undefined ? ipcChannel : frameChannel(Number(descriptor));
}

// A child process's side of the channel to the process that started it.
import { isCovered } from '../../resources/coverage.js';

/** `Received` are the messages to this process, `Sent` those of this process. */
export interface ParentChannel<Received, Sent> {
  readonly connected: boolean;
  /**
   * Sends a message. Throws if it cannot be copied. `written` is called with an error if it cannot be written, and when
   * the message was written; a stream calls it only for the last message of a process that ends.
   */
  send(message: Sent, written: (error?: Error | null) => void): void;
  /** Calls `onMessage` with each message, and `onEnd` once when the other process has ended. */
  receive(onMessage: (message: Received) => void, onEnd: () => void): void;
}

/** Returns Node's channel. */
export function ipcChannel<Received, Sent>(): ParentChannel<Received, Sent> {
  return {
    get connected() {
      return process.connected;
    },
    send: (message, written) => void process.send?.(message, undefined, undefined, written),
    receive: (onMessage, onEnd) => {
      process.on('message', onMessage);
      process.on('disconnect', onEnd);
      if (isCovered()) process.once('SIGTERM', killThisProcess);
    },
  };
}

/** Ends this process. process.exit() would wait for a thread inside a native call, but writes what Node has measured. */
export function killThisProcess(): void {
  if (isCovered()) process.exit();
  process.kill(process.pid, 'SIGKILL');
}

/** Sends a message, and ends this process if that fails. */
export function sendToParent<Sent>(channel: ParentChannel<unknown, Sent>, message: Sent): void {
  // The parent may end between this check and the write. The write fails then, before the end is reported.
  if (channel.connected)
    channel.send(message, (error) => {
      if (error) killThisProcess();
    });
}

/** Ends this process when a message was sent, and with it all earlier messages. */
export function sendLast<Sent>(
  channel: ParentChannel<unknown, Sent>,
  message: Sent,
  end = killThisProcess,
): void {
  if (channel.connected) channel.send(message, end);
  else end();
}

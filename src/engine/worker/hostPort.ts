import type { FromIsolate, ToIsolate } from '../../protocol/isolateMessages.js';

/** The isolate's connection to its host. */
export interface HostPort {
  post(message: FromIsolate): void;
  /** Returns the next waiting message without a turn of the event loop. */
  receive(): ToIsolate | undefined;
}

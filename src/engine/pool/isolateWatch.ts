// Limits the time for an isolate's start and for the receipt of a call, neither of which runs the user's code. Counts
// polls of this thread, so that a pause of this thread does not exceed the limit. For the receipt of a call, only polls
// count between which the isolate's event loop turned, so that a task may run without a limit.
import { VITALS } from '../../protocol/isolateMessages.js';
import { threadStanding } from './isolateDump.js';
import type { PendingCalls } from './pendingCalls.js';

const POLL_MS = 1000;
/** Polls within which an isolate must start; at least as many seconds. */
const START_POLLS = 60;

export interface WatchedIsolate {
  readonly name: string;
  readonly vitals: Float64Array;
  readonly readyAt: number;
  dump(): Promise<unknown>;
  terminate(cause: Error): void;
}

export class IsolateWatch {
  readonly #isolate: WatchedIsolate;
  readonly #calls: PendingCalls;
  #timer: NodeJS.Timeout | undefined;
  #polls = 0;
  #turned = 0;

  constructor(isolate: WatchedIsolate, calls: PendingCalls) {
    this.#isolate = isolate;
    this.#calls = calls;
    this.watch();
  }

  /** Polls until the isolate has started and has received all calls. */
  watch(): void {
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const isolate = this.#isolate;
    const turned = isolate.vitals[VITALS.turned]!;
    const hasTurned = turned !== this.#turned;
    this.#turned = turned;
    if (!(isolate.readyAt >= 0)) {
      if (++this.#polls >= START_POLLS) isolate.terminate(neverStarted(isolate));
    } else if (this.#calls.untaken === 0) this.close();
    else if (hasTurned) this.#calls.occasion(isolate.name, () => isolate.dump());
  }
}

/** Returns the error of a thread that waits for the system or loads Longpole's modules; no code of the user has run. */
function neverStarted({ vitals }: WatchedIsolate): Error {
  return new Error(`Its thread did not start within ${START_POLLS} s: ${threadStanding(vitals)}.`);
}

// Limits what an isolate owes its host without running the user's code: its start, and the receipt of a call. Time counts in
// polls of this thread, so that a process without a core does not pass the limit, and the receipt of a call only in polls
// between which the isolate's event loop turned, so that a task may compute for as long as it likes.
import { VITALS_TURNED } from '../../protocol/isolateMessages.js';
import { threadStanding } from './isolateDump.js';
import type { PendingCalls } from './pendingCalls.js';

const POLL_MS = 1000;
/** Polls until an isolate must have started, which is as many seconds at least. */
const START_POLLS = 60;

export interface WatchedIsolate {
  readonly name: string;
  readonly vitals: Float64Array;
  readonly hasStarted: boolean;
  dump(): Promise<unknown>;
  terminate(cause: Error): void;
}

export class IsolateWatch {
  readonly #isolate: WatchedIsolate;
  readonly #calls: PendingCalls;
  #timer: NodeJS.Timeout | undefined;
  #polls = 0;
  #turned = 0;

  /** Begins with the start of the isolate. */
  constructor(isolate: WatchedIsolate, calls: PendingCalls) {
    this.#isolate = isolate;
    this.#calls = calls;
    this.watch();
  }

  /** Polls until the isolate owes nothing. */
  watch(): void {
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const isolate = this.#isolate;
    const turned = isolate.vitals[VITALS_TURNED]!;
    const hasTurned = turned !== this.#turned;
    this.#turned = turned;
    if (!isolate.hasStarted) {
      if (++this.#polls >= START_POLLS) isolate.terminate(neverStarted(isolate));
    } else if (this.#calls.untaken === 0) this.close();
    else if (hasTurned) this.#calls.occasion(isolate.name, () => isolate.dump());
  }
}

/** The thread waits for the system or for the modules of the program: nothing of the program has run. */
function neverStarted({ vitals }: WatchedIsolate): Error {
  return new Error(`Its thread did not begin within ${START_POLLS} s: ${threadStanding(vitals)}.`);
}

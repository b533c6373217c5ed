// Entry point of a child process. Its main thread runs no tasks. It connects the channel to the isolate, so that a
// steal, a fetch or a poll of completions is answered while a task computes.
import { internalError } from '../../base/errors.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import { packFinished } from '../../protocol/finishedTasks.js';
import type { PackedValues, UnmeasuredWork, Values } from '../../protocol/isolateMessages.js';
import type { FromProcess, IsolateOrders, RunInProcess, ToProcess } from '../../protocol/processMessages.js';
import { deliver, type ExecutingTask, isSameRun, type Methods } from '../../protocol/workerMessages.js';
import { epochSeconds } from '../../resources/clock.js';
import type { Isolate, RunHandler } from '../pool/isolate.js';
import { ThreadIsolate } from '../pool/threadIsolate.js';
import { isolateClock } from './isolateClock.js';
import { ipcChannel, sendLast, sendToParent } from './parentChannel.js';
import { sendFinished, sendValues } from './sendValues.js';

/** Milliseconds between two reports of a busy isolate's completions. */
const POLL_MS = 10;

const channel = ipcChannel<ToProcess, FromProcess>();
const send = (message: FromProcess): void => sendToParent(channel, message);

class Relay implements RunHandler {
  readonly #run: number;

  constructor(run: number) {
    this.#run = run;
  }

  finished(_isolate: Isolate, columns: CompletionColumns, arrived: ReadonlyMap<number, unknown>): void {
    sendFinished(packFinished(this.#run, columns, arrived), send);
  }

  fetched(isolate: Isolate, values: Values, missing: Int32Array, packed: PackedValues): void {
    sendValues(values, (sendable, errors) => {
      send({ type: 'fetched', args: [this.#run, sendable, missing, packed] });
      for (const { id, error } of errors) this.fetchFailed(isolate, id, error);
    });
  }

  fetchFailed(_isolate: Isolate, id: number, error: ErrorInfo): void {
    send({ type: 'fetchFailed', args: [this.#run, id, error] });
  }

  stolen(_isolate: Isolate, ids: readonly number[]): void {
    send({ type: 'stolen', args: [this.#run, ids] });
  }

  seceded(_isolate: Isolate, id: number, batch: number): void {
    send({ type: 'seceded', args: [this.#run, id, batch] });
  }

  worked(_isolate: Isolate, work: UnmeasuredWork): void {
    send({ type: 'worked', args: [work] });
  }

  lost(_isolate: Isolate, running: number | undefined, cause: Error): void {
    send({ type: 'lost', args: [this.#run, running ?? -1, toErrorInfo(cause)] });
  }
}

/** Ends the process once its last messages are out, because the isolate is gone or stuck. */
const end = (): void => sendLast(channel, { type: 'ready', args: [epochSeconds()] });

let isolate: ThreadIsolate | undefined;
/** The open runs. */
const runs = new Set<number>();
let timer: NodeJS.Timeout | undefined;
/** The last report of the running task. */
let reported: ExecutingTask | undefined;

function theIsolate(): ThreadIsolate {
  if (isolate === undefined) throw internalError('The first message to an isolate was not its birth.');
  return isolate;
}

function open(run: RunInProcess): void {
  runs.add(run.run);
  theIsolate().open({ ...run, handler: new Relay(run.run) });
  timer ??= setInterval(poll, POLL_MS);
}

function poll(): void {
  for (const run of runs) theIsolate().poll(run);
  const { executing } = theIsolate();
  if (!isSameRun(executing, reported)) send({ type: 'running', args: [executing] });
  reported = executing;
}

function close(run: number): void {
  runs.delete(run);
  theIsolate().close(run);
  if (runs.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

const orders: Methods<IsolateOrders> = {
  birth: (name, epochOffsetMs) => {
    isolate = new ThreadIsolate(name, epochOffsetMs, { gone: end });
    send({ type: 'ready', args: [isolateClock(epochOffsetMs)()] });
  },
  open,
  dispatch: (batch) => theIsolate().dispatch(batch),
  release: (run, ids) => theIsolate().release(run, ids),
  fetch: (run, ids) => theIsolate().fetch(run, ids),
  steal: (run, ids) => theIsolate().steal(run, ids),
  close,
};

// When the parent ends or is killed, the results are not needed any more.
channel.receive((message) => deliver<IsolateOrders, keyof IsolateOrders>(orders, message), end);

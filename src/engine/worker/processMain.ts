// Entry point of a child process. Its main thread runs no tasks. It connects the channel to the isolate, so that a
// steal, a fetch or a poll of completions is answered while a task computes.
import { internalError } from '../../base/errors.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import { packFinished } from '../../protocol/finishedTasks.js';
import {
  NO_IDS,
  NO_PACKED,
  NO_VALUES,
  type PackedValues,
  type Values,
} from '../../protocol/isolateMessages.js';
import type {
  FromProcess,
  IsolateOrders,
  OpenRunInProcess,
  ToProcess,
} from '../../protocol/processMessages.js';
import { deliver } from '../../protocol/workerMessages.js';
import type { Isolate, RunHandler } from '../pool/isolate.js';
import { ThreadIsolate } from '../pool/threadIsolate.js';
import { sendFinished, sendValues } from './sendValues.js';

/** Milliseconds between two reports of a busy isolate's completions. */
const POLL_MS = 10;

function send(message: FromProcess): void {
  // The parent may end between this check and the write. The write fails then, and 'disconnect' follows.
  if (process.connected) process.send?.(message, undefined, undefined, endIfFailed);
}

function endIfFailed(error: Error | null): void {
  if (error !== null) process.kill(process.pid, 'SIGKILL');
}

class Relay implements RunHandler {
  readonly #run: number;
  #running = -1;

  constructor(run: number) {
    this.#run = run;
  }

  finished(_isolate: Isolate, columns: CompletionColumns, arrived: ReadonlyMap<number, unknown>): void {
    sendFinished(packFinished(this.#run, columns, arrived), send);
  }

  fetched(_isolate: Isolate, values: Values, missing: Int32Array, packed: PackedValues): void {
    sendValues(values, (sendable, errors) =>
      send({ type: 'fetched', run: this.#run, values: sendable, packed, missing, errors }),
    );
  }

  fetchFailed(_isolate: Isolate, id: number, error: ErrorInfo): void {
    send({
      type: 'fetched',
      run: this.#run,
      missing: NO_IDS,
      values: NO_VALUES,
      packed: NO_PACKED,
      errors: [{ id, error }],
    });
  }

  stolen(_isolate: Isolate, ids: readonly number[]): void {
    send({ type: 'stolen', run: this.#run, ids: Int32Array.from(ids) });
  }

  seceded(_isolate: Isolate, id: number, batch: number): void {
    send({ type: 'seceded', run: this.#run, id, batch });
  }

  lost(_isolate: Isolate, running: number | undefined, cause: Error): void {
    const message: FromProcess = {
      type: 'lost',
      run: this.#run,
      running: running ?? -1,
      error: toErrorInfo(cause),
    };
    send(message);
  }

  poll(isolate: Isolate): void {
    isolate.poll(this.#run);
    const running = isolate.running(this.#run);
    if (running !== this.#running) send({ type: 'running', run: this.#run, id: running });
    this.#running = running;
  }
}

/**
 * Ends the process once its last messages are out, because the isolate is gone or stuck. process.exit() would wait
 * for a thread inside a native call.
 */
function end(): void {
  const kill = (): void => void process.kill(process.pid, 'SIGKILL');
  if (process.connected) process.send?.({ type: 'ready' } satisfies FromProcess, undefined, undefined, kill);
  else kill();
}

let isolate: ThreadIsolate | undefined;
const relays = new Map<number, Relay>();
let poll: NodeJS.Timeout | undefined;

function theIsolate(): ThreadIsolate {
  if (isolate === undefined) throw internalError('The first message to an isolate was not its birth.');
  return isolate;
}

function open(message: OpenRunInProcess): void {
  const { run, program, functions, maxOutstanding, concurrentTasks } = message;
  const relay = new Relay(run);
  relays.set(run, relay);
  const claims = new Int32Array(new SharedArrayBuffer(4 * program.size));
  const wanted = new Uint8Array(new SharedArrayBuffer(program.size));
  theIsolate().open({
    run,
    program,
    functions,
    claims,
    wanted,
    maxOutstanding,
    concurrentTasks,
    handler: relay,
  });
  poll ??= setInterval(() => {
    for (const open of relays.values()) open.poll(theIsolate());
  }, POLL_MS);
}

function close(run: number): void {
  relays.delete(run);
  theIsolate().close(run);
  if (relays.size > 0) return;
  clearInterval(poll);
  poll = undefined;
}

process.on('message', (message: ToProcess) => {
  switch (message.type) {
    case 'birth':
      isolate = new ThreadIsolate(message.name, message.epochOffsetMs, { gone: end });
      send({ type: 'ready' });
      break;
    case 'open':
      open(message);
      break;
    case 'batch':
      theIsolate().dispatch(message.run, message);
      break;
    case 'release':
    case 'fetch':
    case 'steal':
      deliver<IsolateOrders, keyof IsolateOrders>(theIsolate(), message);
      break;
    case 'close':
      close(message.run);
      break;
  }
});
// The parent ended or was killed, so that the results are not needed any more.
process.on('disconnect', end);

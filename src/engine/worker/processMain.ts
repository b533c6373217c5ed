// Entry point of a child process. Its main thread runs no tasks. It connects the channel to the isolate, so that a
// steal, a fetch or a poll of completions is answered while a task computes.
import { internalError } from '../../base/errors.js';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import { packFinished } from '../../protocol/finishedTasks.js';
import type { FromProcess, IsolateOrders, ToProcess } from '../../protocol/processMessages.js';
import { deliver, type ExecutingTask, isSameRun, type Methods } from '../../protocol/workerMessages.js';
import { epochSeconds } from '../../resources/clock.js';
import type { RunHandler } from '../pool/isolate.js';
import { ThreadIsolate } from '../pool/threadIsolate.js';
import { isolateClock } from './isolateClock.js';
import { ipcChannel, sendLast, sendToParent } from './parentChannel.js';
import { sendFinished, sendValues } from './sendValues.js';

/** Milliseconds between two reports of a busy isolate's completions. */
const POLL_MS = 10;

const channel = ipcChannel<ToProcess, FromProcess>();
const send = (message: FromProcess): void => sendToParent(channel, message);

/** Returns a handler that sends the reports of a run to the parent. */
function relay(run: number): RunHandler {
  const handler: RunHandler = {
    finished: (_isolate, columns, arrived) => sendFinished(packFinished(run, columns, arrived), send),
    fetched: (isolate, values, missing, packed) =>
      sendValues(values, (sendable, errors) => {
        send({ type: 'fetched', args: [run, sendable, missing, packed] });
        for (const { id, error } of errors) handler.fetchFailed(isolate, id, error);
      }),
    fetchFailed: (_isolate, id, error) => send({ type: 'fetchFailed', args: [run, id, error] }),
    stolen: (_isolate, ids) => send({ type: 'stolen', args: [run, ids] }),
    seceded: (_isolate, id, batch) => send({ type: 'seceded', args: [run, id, batch] }),
    worked: (_isolate, work) => send({ type: 'worked', args: [work] }),
    lost: (_isolate, running, cause) =>
      send({ type: 'lost', args: [run, running ?? -1, toErrorInfo(cause)] }),
  };
  return handler;
}

/** Ends the process once its last messages are out, because the isolate is gone or stuck. */
const end = (): void => sendLast(channel, { type: 'ready', args: [epochSeconds()] });

/** Creates the isolate. Returns the calls that the parent may make. */
function begin(...[name, epochOffsetMs]: IsolateOrders['birth']): Methods<Omit<IsolateOrders, 'birth'>> {
  const isolate = new ThreadIsolate(name, epochOffsetMs, { gone: end });
  const runs = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  /** The last report of the running task. */
  let reported: ExecutingTask | undefined;
  const poll = (): void => {
    for (const run of runs) isolate.poll(run);
    const { executing } = isolate;
    if (!isSameRun(executing, reported)) send({ type: 'running', args: [executing] });
    reported = executing;
    // A task of a closed run may still run.
    if (runs.size > 0 || executing !== undefined) return;
    clearInterval(timer);
    timer = undefined;
  };
  send({ type: 'ready', args: [isolateClock(epochOffsetMs)()] });
  return {
    open: (run) => {
      runs.add(run.run);
      isolate.open(run, relay(run.run));
      timer ??= setInterval(poll, POLL_MS);
    },
    dispatch: (batch) => isolate.dispatch(batch),
    release: (run, ids) => isolate.release(run, ids),
    fetch: (run, ids) => isolate.fetch(run, ids),
    steal: (run, ids) => isolate.steal(run, ids),
    close: (run) => {
      runs.delete(run);
      isolate.close(run);
    },
  };
}

let orders: ReturnType<typeof begin> | undefined;

// When the parent ends or is killed, the results are not needed any more.
channel.receive((message) => {
  if (message.type === 'birth') orders = begin(...message.args);
  else if (orders === undefined) throw internalError('The first message to an isolate was not its birth.');
  else deliver<Omit<IsolateOrders, 'birth'>, Exclude<keyof IsolateOrders, 'birth'>>(orders, message);
}, end);

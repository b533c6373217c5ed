// The reports of a worker process as messages to the cluster, with times on the scheduler's clock.
import { toErrorInfo } from '../../protocol/errorInfo.js';
import { packFew, packFinished } from '../../protocol/finishedTasks.js';
import type { FromWorker } from '../../protocol/workerMessages.js';
import type { HostEvents } from '../host/hostTypes.js';
import { sendFinished, sendValues } from '../worker/sendValues.js';

/**
 * @param correct converts a time of the isolate's clock to the scheduler's clock
 * @param giveUp sends the reason and ends this process
 */
export function correctedEvents(
  send: (message: FromWorker) => void,
  correct: (time: number) => number,
  giveUp: (why: string) => void,
): HostEvents {
  return {
    fetchFailed: (...args) => send({ type: 'fetchFailed', args }),
    stolen: (...args) => send({ type: 'stolen', args }),
    timedOut: (...args) => send({ type: 'timedOut', args }),
    asked: (...args) => send({ type: 'asked', args }),
    paused: (...args) => send({ type: 'paused', args }),
    warning: (...args) => send({ type: 'warning', args }),
    transfer: (...args) => send({ type: 'transfer', args }),
    interval: (...args) => send({ type: 'interval', args }),
    memory: (...args) => send({ type: 'memory', args }),
    event: (...args) => send({ type: 'event', args }),
    // The process sends this message itself when its server listens.
    ready: () => undefined,
    finished: (run, columns, arrived) =>
      sendFinished(packFinished(run, columns, arrived, correct), (message) => send(packFew(message))),
    fetched: (run, values, stored, missing) =>
      sendValues(values, (sendable, errors) => {
        send({ type: 'fetched', args: [run, sendable, stored, missing] });
        for (const { id, error } of errors) send({ type: 'fetchFailed', args: [run, id, error] });
      }),
    gatherFailed: (run, missing) => {
      const inputs = missing.map(({ id, from, result, unreachable }) => ({ id, from, result, unreachable }));
      send({ type: 'gatherFailed', args: [run, inputs] });
    },
    restarted: (running, cause, isWanted) =>
      send({ type: 'restarted', running, error: toErrorInfo(cause), isWanted }),
    running: (task) => send({ type: 'running', task: task && { ...task, since: correct(task.since) } }),
    noteFull: (why, still) => send({ type: 'full', why: why && toErrorInfo(why), still }),
    metrics: (changes, upTo) => send({ type: 'metrics', args: [changes, correct(upTo)] }),
    profile: (cycle) => {
      const [start, stop] = [correct(cycle.start), correct(cycle.stop)];
      send({ type: 'profile', args: [{ ...cycle, start, stop, times: cycle.times.map(correct) }] });
    },
    lost: (cause) => giveUp(cause.message),
  };
}

// The reports of a worker process as messages to the cluster, with times on the scheduler's clock.

import type { ProfileCycle } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import { packFew, packFinished } from '../../protocol/finishedTasks.js';
import type {
  ExecutingTask,
  FromWorker,
  WorkerReports as Reports,
  RunTask,
} from '../../protocol/workerMessages.js';
import type { HostEvents } from '../host/hostTypes.js';
import { sendFinished, sendValues } from '../worker/sendValues.js';

export class CorrectedEvents implements HostEvents {
  readonly #send: (message: FromWorker) => void;
  readonly #correct: (time: number) => number;

  /** @param correct converts a time of the isolate's clock to the scheduler's clock */
  constructor(send: (message: FromWorker) => void, correct: (time: number) => number) {
    this.#send = send;
    this.#correct = correct;
  }

  readonly fetchFailed = (...args: Reports['fetchFailed']) => this.#send({ type: 'fetchFailed', args });
  readonly stolen = (...args: Reports['stolen']) => this.#send({ type: 'stolen', args });
  readonly timedOut = (...args: Reports['timedOut']) => this.#send({ type: 'timedOut', args });
  readonly asked = (...args: Reports['asked']) => this.#send({ type: 'asked', args });
  readonly paused = (...args: Reports['paused']) => this.#send({ type: 'paused', args });
  readonly warning = (...args: Reports['warning']) => this.#send({ type: 'warning', args });
  readonly transfer = (...args: Reports['transfer']) => this.#send({ type: 'transfer', args });
  readonly interval = (...args: Reports['interval']) => this.#send({ type: 'interval', args });
  readonly memory = (...args: Reports['memory']) => this.#send({ type: 'memory', args });
  readonly event = (...args: Reports['event']) => this.#send({ type: 'event', args });

  ready(): void {
    // The process sends this message itself when its server listens.
  }

  finished(run: number, columns: CompletionColumns, arrived: ReadonlyMap<number, unknown>): void {
    sendFinished(packFinished(run, columns, arrived, this.#correct), (message) =>
      this.#send(packFew(message)),
    );
  }

  fetched(...[run, values, stored, missing]: Reports['fetched']): void {
    sendValues(values, (sendable, errors) => {
      this.#send({ type: 'fetched', args: [run, sendable, stored, missing] });
      for (const { id, error } of errors) this.fetchFailed(run, id, error);
    });
  }

  gatherFailed(...[run, missing]: Reports['gatherFailed']): void {
    const inputs = missing.map(({ id, from, result, unreachable }) => ({ id, from, result, unreachable }));
    this.#send({ type: 'gatherFailed', args: [run, inputs] });
  }

  restarted(running: RunTask | undefined, cause: Error, isWanted: boolean): void {
    this.#send({ type: 'restarted', running, error: toErrorInfo(cause), isWanted });
  }

  running(task: ExecutingTask | undefined): void {
    this.#send({ type: 'running', task: task && { ...task, since: this.#correct(task.since) } });
  }

  noteFull(why: Error | undefined, still: boolean): void {
    this.#send({ type: 'full', why: why && toErrorInfo(why), still });
  }

  metrics(...[changes, upTo]: Reports['metrics']): void {
    this.#send({ type: 'metrics', args: [changes, this.#correct(upTo)] });
  }

  profile(cycle: ProfileCycle): void {
    const [start, stop] = [this.#correct(cycle.start), this.#correct(cycle.stop)];
    this.#send({ type: 'profile', args: [{ ...cycle, start, stop, times: cycle.times.map(this.#correct) }] });
  }

  lost(cause: Error): void {
    this.#send({ type: 'giving-up', why: cause.message });
    process.disconnect?.();
  }
}

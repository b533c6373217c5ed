// The reports of a worker process as messages to the cluster, with times on the scheduler's clock.
import type { MemorySample, Transfer, WorkInterval } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import { packFinished } from '../../protocol/finishedTasks.js';
import type { Values } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { ProfileCycle } from '../../protocol/profileCycle.js';
import type { TaskQuestion } from '../../protocol/questions.js';
import type { FromWorker, RunTask } from '../../protocol/workerMessages.js';
import type { HostEvents, MissingInput, StoredResult } from '../host/hostTypes.js';
import { sendFinished, sendValues } from '../worker/sendValues.js';

export class CorrectedEvents implements HostEvents {
  readonly #send: (message: FromWorker) => void;
  readonly #correct: (time: number) => number;

  /** @param correct converts a time of the isolate's clock to the scheduler's clock */
  constructor(send: (message: FromWorker) => void, correct: (time: number) => number) {
    this.#send = send;
    this.#correct = correct;
  }

  ready(): void {
    // The process sends this message itself when its server listens.
  }

  finished(run: number, columns: CompletionColumns, arrived: ReadonlyMap<number, unknown>): void {
    sendFinished(packFinished(run, columns, arrived, this.#correct), this.#send);
  }

  fetched(run: number, values: Values, stored: readonly StoredResult[], missing: Int32Array): void {
    sendValues(values, (sendable, errors) => {
      this.#send({ type: 'fetched', run, values: sendable, stored, missing });
      for (const { id, error } of errors) this.fetchFailed(run, id, error);
    });
  }

  fetchFailed(run: number, id: number, error: ErrorInfo): void {
    this.#send({ type: 'fetch-failed', run, id, error });
  }

  stolen(run: number, ids: readonly number[]): void {
    this.#send({ type: 'stolen', run, ids });
  }

  gatherFailed(run: number, missing: readonly MissingInput[]): void {
    const inputs = missing.map(({ id, from, result }) => ({ id, from, result }));
    this.#send({ type: 'gather-failed', run, missing: inputs });
  }

  timedOut(task: RunTask, seconds: number): void {
    this.#send({ type: 'timed-out', task, seconds });
  }

  restarted(running: RunTask | undefined, cause: Error, isWanted: boolean): void {
    this.#send({ type: 'restarted', running, error: toErrorInfo(cause), isWanted });
  }

  running(task: RunTask | undefined, since: number): void {
    this.#send({ type: 'running', task, since: this.#correct(since) });
  }

  asked(question: TaskQuestion, isolate: number): void {
    this.#send({ type: 'ask', question, isolate });
  }

  paused(paused: boolean): void {
    this.#send({ type: 'paused', paused });
  }

  noteFull(why: Error | undefined, still: boolean): void {
    this.#send({ type: 'full', why: why && toErrorInfo(why), still });
  }

  warning(topic: string, text: string): void {
    this.#send({ type: 'warning', topic, text });
  }

  transfer(transfer: Transfer): void {
    this.#send({ type: 'transfer', transfer });
  }

  interval(interval: WorkInterval): void {
    this.#send({ type: 'interval', interval });
  }

  memory(sample: MemorySample): void {
    this.#send({ type: 'memory', sample });
  }

  metrics(changes: MetricChanges, upTo: number): void {
    this.#send({ type: 'metrics', changes, upTo: this.#correct(upTo) });
  }

  profile(cycle: ProfileCycle): void {
    const { start, stop, times } = cycle;
    this.#send({
      type: 'profile',
      cycle: {
        ...cycle,
        start: this.#correct(start),
        stop: this.#correct(stop),
        times: times.map(this.#correct),
      },
    });
  }

  event(topic: string, text: string, task?: Omit<RunTask, 'batch'>): void {
    this.#send({ type: 'event', topic, text, task });
  }

  lost(cause: Error): void {
    this.#send({ type: 'giving-up', why: cause.message });
    process.disconnect?.();
  }
}

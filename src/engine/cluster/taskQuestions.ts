// Answers the questions of running tasks: see protocol/questions.ts. Owns the handlers, one per kind, and the tasks
// that have asked. A task that ends, is cancelled, or dies with its worker has no use for an answer, so its waiting
// questions end, and handlers are notified through `Asker.ended`. The code of a cancelled task runs on until it returns,
// or until its isolate is terminated; see `Asker.stopped`.
import { setMaxListeners } from 'node:events';
import { internalError, LongpoleError, unusableFuture } from '../../base/errors.js';
import { prefixOf } from '../../protocol/clusterObserver.js';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import type {
  AnswerOf,
  QuestionKind,
  QuestionOf,
  TaskAnswer,
  TaskAnswerError,
  TaskQuestion,
} from '../../protocol/questions.js';
import { PROCESSING } from '../scheduler/taskStates.js';
import type { EngineParts } from './engineParts.js';
import type { EngineWorker } from './engineWorker.js';
import { keepAlive } from './keepAlive.js';

/** The task that asks. All questions of one run of a task have the same Asker. */
export interface Asker {
  readonly worker: EngineWorker;
  /** Number of the computation, and local id of the task. */
  readonly run: number;
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  /**
   * Aborts when the task has ended, was cancelled or died with its worker, or the cluster closes. The reason is an
   * `AskerEnd`. May already be aborted when the question arrives.
   */
  readonly ended: AbortSignal;
  /** Aborts when no code of the task runs any more; for a cancelled task later than `ended`. */
  readonly stopped: AbortSignal;
}

/** Why a task asks no more. */
export interface AskerEnd {
  /** `finished`: the task's code has returned or thrown. Otherwise it was stopped before. */
  readonly how: 'finished' | 'cancelled' | 'lost' | 'closed';
  /** The error for questions that still wait. */
  readonly error: LongpoleError;
}

export type QuestionHandler<K extends QuestionKind> = (
  question: QuestionOf<K>,
  asker: Asker,
) => AnswerOf<K> | Promise<AnswerOf<K>>;

interface AskingTask {
  readonly asker: Asker;
  readonly ended: AbortController;
  readonly stopped: AbortController;
  /** Rejects the questions that wait. */
  readonly waiting: Set<(end: AskerEnd) => void>;
  end: AskerEnd | undefined;
}

export class TaskQuestions {
  readonly #engine: EngineParts;
  readonly #handlers = new Map<QuestionKind, (message: TaskQuestion, asker: Asker) => Promise<TaskAnswer>>();
  /** Tasks that have asked and whose code may run, by worker, run, id and attempt. */
  readonly #tasks = new Map<string, AskingTask>();
  /** A call of the program may wait for the end of one of these tasks, also of a cancelled one. */
  readonly #keepAlive = keepAlive();
  #closed: AskerEnd | undefined;

  constructor(engine: EngineParts) {
    this.#engine = engine;
    this.handle('secede', ({ batch }, { worker, run, id }) => {
      const base = engine.computation(run)?.segment.base;
      const { index } = worker.info;
      if (base !== undefined)
        engine.handleEvent({ type: 'task-seceded', worker: index, id: base + id, batch });
      return null;
    });
  }

  /** Registers the handler of a kind. It may throw or reject; the asking task receives the error with its code. */
  handle<K extends QuestionKind>(kind: K, handler: QuestionHandler<K>): void {
    this.#handlers.set(kind, async (message, asker) => {
      if (!isOfKind(kind, message)) throw unansweredError(message, asker);
      return { kind, number: message.number, answer: await handler(message.question, asker) };
    });
  }

  asked(worker: EngineWorker, question: TaskQuestion, isolate: number): void {
    const { kind, number } = question;
    if (kind === 'ended') {
      this.#stop(keyOf(worker, question), finishedEnd);
      return;
    }
    const task = this.#taskOf(worker, question);
    const reply = (answer: TaskAnswer | TaskAnswerError): void => {
      // A worker that has died or left receives no answer.
      if (task.end?.how !== 'lost') worker.host.answer(answer, isolate);
    };
    const fail = (error: unknown): void => reply({ number, error: toErrorInfo(error) });
    void this.#answer(task, question).then(reply).catch(fail);
  }

  /** Some tasks need not run any more. */
  cancelled(worker: number, run: number, ids: Int32Array): void {
    if (this.#tasks.size === 0) return;
    const those = new Set(ids);
    for (const task of this.#tasks.values()) {
      const { asker } = task;
      if (asker.worker.info.index === worker && asker.run === run && those.has(asker.id))
        endTask(task, cancelledEnd(asker.key));
    }
  }

  /** The worker or its isolate has ended, with all its tasks. */
  lost(worker: number, why: string): void {
    for (const [key, { asker }] of this.#tasks)
      if (asker.worker.info.index === worker)
        this.#stop(key, () => ({ how: 'lost', error: new LongpoleError('ERR_LONGPOLE_WORKER_LOST', why) }));
  }

  /** Ends all questions with an error. Later questions receive it too. */
  close(error: LongpoleError): void {
    this.#closed = { how: 'closed', error };
    for (const key of this.#tasks.keys()) this.#stop(key, () => ({ how: 'closed', error }));
    this.#keepAlive(false);
  }

  async #answer(task: AskingTask, message: TaskQuestion): Promise<TaskAnswer> {
    const { asker, end } = task;
    const handler = this.#handlers.get(message.kind);
    if (handler === undefined) throw unansweredError(message, asker);
    // A question that has crossed the end of its task is handled, e.g. a submission that the task did not await.
    if (end !== undefined && end.how !== 'finished') throw end.error;
    const answered = handler(message, asker);
    return end === undefined ? untilEnd(task, answered) : answered;
  }

  /**
   * Returns the asking task. A question may arrive after the end of its task, because completions travel through
   * shared memory. Such a task is not kept.
   */
  #taskOf(worker: EngineWorker, question: TaskQuestion): AskingTask {
    const { run, id } = question;
    const key = keyOf(worker, question);
    const known = this.#tasks.get(key);
    if (known !== undefined) return known;
    const computation = this.#engine.computation(run);
    const [ended, stopped] = [new AbortController(), new AbortController()];
    // A task may wait for many answers at the same time.
    setMaxListeners(0, ended.signal, stopped.signal);
    const name = computation?.info.keys[id] ?? '';
    const prefix = computation === undefined ? '' : prefixOf(computation.info, id);
    const signals = { ended: ended.signal, stopped: stopped.signal };
    const asker: Asker = { worker, run, id, key: name, prefix, ...signals };
    const task: AskingTask = { asker, ended, stopped, waiting: new Set(), end: undefined };
    const { state, location } = this.#engine.scheduler.state;
    const global = (computation?.segment.base ?? 0) + id;
    const isRunning =
      computation !== undefined && state[global] === PROCESSING && location[global] === worker.info.index;
    if (isRunning && this.#closed === undefined) {
      this.#tasks.set(key, task);
      this.#keepAlive(true);
    } else {
      // A forgotten computation does not show how its task ended, so the call ends as if the task was cancelled.
      const isKnown = this.#engine.firstIdOf(run) !== undefined;
      stopTask(task, this.#closed ?? (isKnown ? finishedEnd(name) : cancelledEnd(name)));
    }
    return task;
  }

  #stop(key: string, endOf: (name: string) => AskerEnd): void {
    const task = this.#tasks.get(key);
    if (task === undefined) return;
    this.#tasks.delete(key);
    this.#keepAlive(this.#tasks.size > 0);
    stopTask(task, endOf(task.asker.key));
  }
}

/** Ends the questions of a task, unless an earlier end has. */
function endTask(task: AskingTask, end: AskerEnd): void {
  if (task.end !== undefined) return;
  task.end = end;
  task.ended.abort(end);
  for (const reject of task.waiting) reject(end);
  task.waiting.clear();
}

function stopTask(task: AskingTask, end: AskerEnd): void {
  endTask(task, end);
  task.stopped.abort(end);
}

/** Returns the outcome of a handler, or the error of the task's end. */
function untilEnd<R>({ waiting }: AskingTask, answered: Promise<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const ended = (end: AskerEnd): void => reject(end.error);
    waiting.add(ended);
    answered.then(resolve, reject).finally(() => waiting.delete(ended));
  });
}

function isOfKind<K extends QuestionKind>(kind: K, message: TaskQuestion): message is TaskQuestion<K> {
  return message.kind === kind;
}

function unansweredError({ kind }: TaskQuestion, { key }: Asker): LongpoleError {
  return internalError(`The cluster cannot answer the question '${kind}' of task '${key}'.`);
}

function keyOf({ info }: EngineWorker, { run, id, attempt }: TaskQuestion): string {
  return `${info.index} ${run} ${id} ${attempt}`;
}

/** Returns the beginning of a sentence. The key of a forgotten task is not known. */
function theTask(name: string): string {
  return name === '' ? 'The task' : `Task '${name}'`;
}

function finishedEnd(name: string): AskerEnd {
  const message = `${theTask(name)} ended before this call was answered. Await every call before the task returns.`;
  return { how: 'finished', error: new LongpoleError('ERR_LONGPOLE_CLOSED', message) };
}

function cancelledEnd(name: string): AskerEnd {
  const message = `${theTask(name)} was cancelled, which also ends its waiting calls. Submit it again if you need its result.`;
  return { how: 'cancelled', error: unusableFuture(message) };
}

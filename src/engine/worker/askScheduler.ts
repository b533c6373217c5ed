// The isolate's side of the questions that tasks ask the scheduler's process: see protocol/questions.ts.
import { checkNoMore } from '../../base/arguments.js';
import { internalError, LongpoleError } from '../../base/errors.js';
import { thrownOf } from '../../protocol/errorInfo.js';
import type { TaskAsks } from '../../protocol/isolateMessages.js';
import type {
  AnswerOf,
  QuestionKind,
  QuestionOf,
  TaskAnswer,
  TaskAnswerError,
  TaskQuestion,
} from '../../protocol/questions.js';
import { type MeteredTask, meterContext } from './meterContext.js';

interface WaitingQuestion {
  readonly resolve: (answer: TaskAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Connects the tasks of an isolate with the scheduler's process. */
export class SchedulerLink {
  readonly #post: (message: TaskAsks) => void;
  /** Makes a task leave its slot. */
  readonly secede: (task: MeteredTask) => void;
  readonly #waiting = new Map<number, WaitingQuestion>();
  /** Numbers of the tasks that have asked. */
  readonly #attempts = new WeakMap<MeteredTask, number>();
  #nextAttempt = 1;
  #next = 1;

  constructor(post: (message: TaskAsks) => void, secede: (task: MeteredTask) => void) {
    this.#post = post;
    this.secede = secede;
  }

  /** @throws (rejects) the error of the answer */
  async ask<K extends QuestionKind>(
    kind: K,
    task: MeteredTask,
    question: QuestionOf<K>,
  ): Promise<AnswerOf<K>> {
    const attempt = this.attemptOf(task);
    const { run, id } = task;
    const number = this.#next++;
    const message: TaskQuestion<K> = { kind, number, run, id, attempt, question };
    const answer = await new Promise<TaskAnswer>((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#post({ type: 'ask', question: message });
    });
    if (isAnswerTo(kind, answer)) return answer.answer;
    throw internalError(`The question '${kind}' received an answer to '${answer.kind}'.`);
  }

  /** Returns the number of a task. The first call makes the task report the end of its code. */
  attemptOf(task: MeteredTask): number {
    const known = this.#attempts.get(task);
    if (known !== undefined) return known;
    const attempt = this.#nextAttempt++;
    this.#attempts.set(task, attempt);
    const { run, id } = task;
    task.atEnd(() =>
      this.#post({ type: 'ask', question: { kind: 'ended', number: 0, run, id, attempt, question: null } }),
    );
    return attempt;
  }

  answered(answer: TaskAnswer | TaskAnswerError): void {
    const waiting = this.#waiting.get(answer.number);
    this.#waiting.delete(answer.number);
    if (answer.error === undefined) waiting?.resolve(answer);
    else waiting?.reject(thrownOf(answer.error));
  }
}

const LINK: unique symbol = Symbol.for('longpole.schedulerLink');

/** A property of the global object, because the user's module may load another copy of the package. */
const holder: typeof globalThis & { [LINK]?: SchedulerLink } = globalThis;

/** Called once at the start of an isolate whose tasks may ask. */
export function connectScheduler(link: SchedulerLink): void {
  holder[LINK] = link;
}

/** Returns the task of the running code, also after an `await`, if it runs on a cluster and has not ended. */
export function askingTask(): MeteredTask | undefined {
  const task = holder[LINK] === undefined ? undefined : meterContext.getStore()?.task;
  return task === undefined || task.hasEnded ? undefined : task;
}

/** Returns whether the running code belongs to a task of a cluster, even if the task has ended. */
export function isInTask(): boolean {
  return holder[LINK] !== undefined && meterContext.getStore()?.task !== undefined;
}

/**
 * Asks the scheduler's process on behalf of the running task, and waits for the answer. The wait does not make room for
 * other tasks on this thread.
 *
 * @throws (rejects) the error of the handler, with its code; ERR_LONGPOLE_NO_CLIENT outside a task of a cluster;
 *   ERR_LONGPOLE_CLOSED if the task has ended or the cluster closes; ERR_LONGPOLE_FUTURE if the task is cancelled
 */
export async function askScheduler<K extends QuestionKind>(
  kind: K,
  question: QuestionOf<K>,
): Promise<AnswerOf<K>> {
  const { task, link } = connected();
  return task.awaited(link.ask(kind, task, question));
}

/** The connection of one task, which also works in code with another context. */
export interface TaskConnection {
  /** @throws (rejects) LongpoleError as askScheduler */
  ask<K extends QuestionKind>(kind: K, question: QuestionOf<K>): Promise<AnswerOf<K>>;
  /** Makes the task leave its slot until `work` has settled. Returns its outcome. */
  awaited<R>(work: Promise<R>): Promise<R>;
}

/**
 * @param atEnd called at the end of the task, before its connection ends
 * @throws LongpoleError ERR_LONGPOLE_NO_CLIENT, ERR_LONGPOLE_CLOSED
 */
export function taskConnection(atEnd: () => void): TaskConnection {
  const { task, link } = connected();
  let isOver = false;
  // The first call at the end runs last, so the end is reported after all that `atEnd` sends.
  link.attemptOf(task);
  task.atEnd(() => {
    atEnd();
    isOver = true;
  });
  const ask = async <K extends QuestionKind>(kind: K, question: QuestionOf<K>): Promise<AnswerOf<K>> => {
    if (isOver) throw endedError();
    return link.ask(kind, task, question);
  };
  const awaited = <R>(work: Promise<R>): Promise<R> => {
    link.secede(task);
    return task.awaited(work);
  };
  return { ask, awaited };
}

/** @throws LongpoleError ERR_LONGPOLE_NO_CLIENT, ERR_LONGPOLE_CLOSED */
function connected(): { readonly task: MeteredTask; readonly link: SchedulerLink } {
  const task = meterContext.getStore()?.task;
  const link = holder[LINK];
  if (link === undefined || task === undefined) throw noClusterError();
  if (task.hasEnded) throw endedError();
  return { task, link };
}

function endedError(): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_CLOSED',
    'The task has ended, but its code still calls the cluster. Await every call before the task returns.',
  );
}

/**
 * Makes the running task leave the slot of its worker thread. While the task waits for a promise, the worker runs other
 * tasks, and the scheduler does not count the task as load of the worker. The task stays outside the slot until it
 * ends; a further call has no effect. A call in a synchronous function has no effect.
 *
 * @returns a promise that resolves at once
 * @throws (rejects) LongpoleError ERR_LONGPOLE_NO_CLIENT outside a task of a cluster, ERR_LONGPOLE_CLOSED after the end
 *   of the task, ERR_LONGPOLE_INVALID_ARGUMENT if an argument is passed
 * @source Dask, `distributed.secede`
 */
export function secede(): Promise<void>;
export async function secede(...more: readonly unknown[]): Promise<void> {
  checkNoMore('secede', more, 'The running task secedes.');
  const { task, link } = connected();
  link.secede(task);
}

/**
 * Returns the error for code that runs in no task of a cluster.
 *
 * @param other what the caller may do instead of running the code in a task
 */
export function noClusterError(other = ''): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_NO_CLIENT',
    'This code does not run in a task of a cluster. ' +
      `Run it with client.submit(), client.map() or client.compute()${other}.`,
  );
}

function isAnswerTo<K extends QuestionKind>(kind: K, answer: TaskAnswer): answer is TaskAnswer<K> {
  return answer.kind === kind;
}

// The questions of running tasks to the scheduler's process, and its answers.
//
// Path: engine/worker/askScheduler.ts posts a question from the isolate of a task. The host passes it to the process of
// the scheduler, where engine/cluster/taskQuestions.ts calls the handler of its kind and returns the answer. With worker
// processes, both messages also cross the process border.
//
// To add a kind, declare it in QuestionKinds, register its handler with `engine.questions.handle(kind, handler)`, and
// call `askScheduler(kind, question)` inside a task. Questions and answers are plain data. A value of the user travels
// as packed results, from packValue in the asking isolate to unpackResult where the value is needed. A handler need not unpack
// it.
//
// Every question ends: with the answer of the handler, with an error that it throws, which keeps its code, or with an
// error when the task is cancelled or the cluster closes. A dead isolate receives no answer. After its last question, an
// asking task reports the end of its code with a question of the kind `ended`, which has no answer.

import type { ClientQuestionKinds } from './clientQuestions.js';
import type { CoordinationKinds } from './coordination.js';
import type { ErrorInfo } from './errorInfo.js';

/** The kinds of questions, with the types of question and answer. */
interface QuestionKinds extends ClientQuestionKinds, CoordinationKinds {
  /** Describes the cluster that runs the task. */
  readonly cluster: {
    readonly question: null;
    readonly answer: { readonly text: string; readonly threads: boolean };
  };
  /** The task leaves its slot, so that other tasks run there while it waits. */
  readonly secede: {
    readonly question: {
      /** The batch of this run of the task. */
      readonly batch: number;
    };
    readonly answer: null;
  };
  /** Reports that the code of an asking task has returned or thrown, even if the task was cancelled before. */
  readonly ended: { readonly question: null; readonly answer: null };
}

export type QuestionKind = keyof QuestionKinds;
export type QuestionOf<K extends QuestionKind> = QuestionKinds[K]['question'];
export type AnswerOf<K extends QuestionKind> = QuestionKinds[K]['answer'];

export interface TaskQuestion<K extends QuestionKind = QuestionKind> {
  readonly kind: K;
  /** Number of the question in its isolate. */
  readonly number: number;
  /** The asking task. */
  readonly run: number;
  readonly id: number;
  /** Number of this run of the task among the asking tasks of its isolate: a task may run again after it was cancelled. */
  readonly attempt: number;
  readonly question: QuestionOf<K>;
}

/** The answer to a question of this kind and number, or an error. */
export interface TaskAnswer<K extends QuestionKind = QuestionKind> {
  readonly kind: K;
  readonly number: number;
  readonly answer: AnswerOf<K>;
  readonly error?: undefined;
}

/** The error in place of an answer. */
export interface TaskAnswerError {
  readonly number: number;
  readonly error: ErrorInfo;
}

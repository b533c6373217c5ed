// The common part of Lock, Semaphore, Event, Variable and Queue: a name, and the way to the scheduler's process. Inside a
// task, calls are questions of the task. In the main program, the scheduler is in the same process.
import { checkArgument, checkOptions, kind, type OptionKinds, SECONDS, TEXT } from '../../base/arguments.js';
import { internalError, LongpoleError } from '../../base/errors.js';
import { Printed } from '../../base/printed.js';
import { visibleName } from '../../base/visibleText.js';
import { askScheduler, isInTask, noClusterError, secede } from '../../engine/worker/askScheduler.js';
import { contextMeter } from '../../engine/worker/contextMeter.js';
import { packValue, unpackResult } from '../../engine/worker/packResult.js';
import { COPY_ADVICE } from '../../graph/lossyCopies.js';
import type { CoordinationKind, SharedValue } from '../../protocol/coordination.js';
import { CALL, OTHERS } from '../../protocol/metrics.js';
import { isPacked } from '../../protocol/packedResult.js';
import type { AnswerOf, QuestionOf } from '../../protocol/questions.js';
import { Client } from '../cluster/client.js';
import { defaultClient } from '../cluster/defaultClient.js';
import { Future, type ScatteredFuture } from '../cluster/future.js';
import { taskClient } from '../cluster/getClient.js';
import { RunningTaskClient } from '../cluster/taskClient.js';

export interface SharedOptions {
  /**
   * Client of the cluster. Default: inside a task the cluster of the task, elsewhere the most recently connected client
   * at the time of each call.
   */
  readonly client?: Client;
}

export const SHARED_OPTIONS: OptionKinds<SharedOptions> = {
  client: kind('a client, e.g. that of connect()', (value) => value instanceof Client),
};

/** Options of a call that may wait. */
export interface TimeoutOptions {
  /** Time limit in seconds. Default: no limit, as with Infinity. With 0 the call does not wait. */
  readonly timeout?: number;
}

export const TIMEOUT_OPTIONS: OptionKinds<TimeoutOptions> = { timeout: SECONDS };

/** Type of a value that a variable or a queue returns. A future has no `then`, so that `await` returns the future. */
export type Received<T> = T extends Future<infer R> ? ScatteredFuture<R> : T;

/** Base of the objects that tasks and the main program share by name. */
export abstract class SharedObject extends Printed {
  /** Name of the object. Objects of one class and name are the same object in the whole cluster. */
  readonly name: string;
  readonly #client: Client | undefined;

  /** @internal */
  protected constructor(
    what: string,
    name: string,
    options: SharedOptions,
    kinds: OptionKinds<SharedOptions>,
  ) {
    super();
    const where = `new ${what}()`;
    checkArgument(`${where}: name`, name, TEXT);
    checkOptions(where, options, kinds);
    this.name = name;
    this.#client = options.client;
  }

  /** @internal */
  get [COPY_ADVICE](): string {
    return `A ${this.constructor.name} is not copied. Create it in the task, or in the module of the task, with the same name.`;
  }

  /** Returns a text such as `<Lock: 'x'>`. */
  override toString(): string {
    return `<${this.constructor.name}: '${visibleName(this.name)}'>`;
  }

  /** @internal */
  protected call<K extends CoordinationKind>(kind: K, question: QuestionOf<K>): Promise<AnswerOf<K>> {
    const client = this.#clientOfCall();
    return client === undefined ? this.#ask(kind, question) : client.coordinate(kind, question);
  }

  /**
   * @internal Makes a call that may wait. A task that has to wait leaves its slot, because the task that ends the wait may
   *   be behind it on the same worker.
   * @returns (resolves) false or undefined at the time limit
   */
  protected async callWaiting<K extends CoordinationKind>(
    kind: K,
    question: (timeout: number | undefined) => QuestionOf<K>,
    timeout: number | undefined,
  ): Promise<AnswerOf<K>> {
    if (this.#clientOfCall() !== undefined || timeout === 0) return this.call(kind, question(timeout));
    const atOnce = await this.#ask(kind, question(0));
    if (atOnce) return atOnce;
    await secede();
    return askScheduler(kind, question(timeout));
  }

  /** Asks for the running task a question that is answered at once. Counts the call and its time in the metrics of the task. */
  async #ask<K extends CoordinationKind>(kind: K, question: QuestionOf<K>): Promise<AnswerOf<K>> {
    if (!isInTask()) throw noClusterError(', or call `await connect()` first');
    const begun = performance.now();
    try {
      return await askScheduler(kind, question);
    } finally {
      const label = callLabel(`${this.constructor.name} '${visibleName(this.name)}'`);
      contextMeter.digestMetric(label, 1, 'count');
      contextMeter.digestMetric(label, performance.now() - begun, 'milliseconds');
    }
  }

  /** @internal Returns a value in the form in which it is sent. `call` is the name of the call, for errors. */
  protected packed(call: string, value: unknown): SharedValue {
    if (!(value instanceof Future)) return packValue(value, `${call}() of '${this.name}': the value`);
    // The submission of its task is sent before.
    value.usable();
    return { future: value.key };
  }

  /** @internal Returns a received value. A future has no `then`. */
  protected received(value: SharedValue): unknown {
    if (isPacked(value)) return unpackResult(value);
    const client = this.#clientOfCall() ?? taskClient();
    if (client instanceof Client || client instanceof RunningTaskClient) return client.received(value.future);
    throw internalError(`No client can receive the future '${value.future}'.`);
  }

  /** Returns the client for a call; undefined if the call is that of a task. */
  #clientOfCall(): Client | undefined {
    return this.#client ?? (isInTask() ? undefined : defaultClient());
  }
}

/** Objects whose calls are counted separately in an isolate, as few as a person reads: a program may have an object for each task. */
const counted = new Set<string>();
const MAX_COUNTED = 100;

function callLabel(object: string): string {
  if (counted.size < MAX_COUNTED) counted.add(object);
  return `${CALL}${counted.has(object) ? object : OTHERS}`;
}

/** Returns the error of a call at its time limit. `what` says what did not happen. */
export function timeoutError(what: string, { timeout }: TimeoutOptions): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_TIMEOUT',
    `${what} within ${timeout} s. Pass a longer timeout, or handle this error.`,
  );
}

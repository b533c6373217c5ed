// One run inside an isolate: its program, the results that are kept here, and what has to be reported.
import { LongpoleError } from '../../base/errors.js';
import { CompletionLog } from '../../protocol/completionLog.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import type { OpenRun, RunBatch, Values } from '../../protocol/isolateMessages.js';
import { CALL_BASE, OP_CALL, type Program } from '../../protocol/program.js';
import {
  isScalar,
  KIND_ERROR,
  KIND_NUMBER,
  KIND_PRIVATE,
  KIND_VALUE,
  kindOf,
} from '../../protocol/results.js';
import { Evaluator, type TaskCallable } from './evaluator.js';
import { ownResult } from './ownResult.js';
import { shareBuffers } from './shareBuffers.js';
import { weighShared } from './sharedWeight.js';

/** Inputs from elsewhere are dropped when the scheduler says so, not by counting. */
const KEEP = 0x7fffffff;

export class IsolateRun {
  readonly log: CompletionLog;
  readonly claims: Int32Array;
  readonly #wanted: Uint8Array;
  /** Set once the functions are loaded; batches wait for it. */
  ready: Promise<void> | undefined;
  readonly #program: Program;
  readonly #results: unknown[];
  /** Dependents that have not run here. At 0 the result is dropped. */
  readonly #uses: Int32Array;
  readonly #constants: unknown[] = [];
  readonly #functions: TaskCallable[] = [];
  readonly #evaluator: Evaluator;
  /** Function number → slowest call lately in seconds; NaN: none yet. */
  readonly #slowest: Float64Array;
  #ids: number[] = [];
  #values: unknown[] = [];
  #errors: { id: number; error: ErrorInfo }[] = [];

  constructor(message: OpenRun) {
    const { program } = message;
    this.log = new CompletionLog(message.log);
    this.claims = message.claims;
    this.#wanted = message.wanted;
    this.#program = program;
    this.#results = new Array(program.size);
    this.#uses = new Int32Array(program.size);
    this.#slowest = new Float64Array(message.functions.length).fill(Number.NaN);
    this.#evaluator = new Evaluator(program, this.#results, this.#functions, this.#constants);
  }

  setFunctions(functions: readonly TaskCallable[]): void {
    this.#functions.push(...functions);
  }

  /** Takes in what a batch brings along. */
  accept(batch: RunBatch): void {
    for (let index = 0; index < batch.inputs.ids.length; index++) {
      const id = batch.inputs.ids[index]!;
      const value = batch.inputs.values[index];
      weighShared(value);
      this.#results[id] = value;
      this.#uses[id] = KEEP;
    }
    for (let index = 0; index < batch.constants.ids.length; index++)
      this.#constants[batch.constants.ids[index]!] = batch.constants.values[index];
  }

  /** Calls the task's function. Throws what it throws. */
  evaluate(id: number): unknown {
    return this.#evaluator.run(id);
  }

  /** Keeps the result, prepares to send it if it is wanted outside, and logs the completion. */
  complete(id: number, value: unknown, start: number, stop: number): void {
    let kind = kindOf(value);
    let kept = value;
    if (kind === KIND_VALUE) {
      if (typeof value === 'function' || typeof value === 'symbol') {
        this.fail(id, notCloneable(`the task returned a ${typeof value}.`), start, stop);
        return;
      }
      try {
        kept = ownResult(value);
      } catch (error) {
        this.fail(id, notCloneable(error), start, stop);
        return;
      }
      if (this.#wanted[id] === 1) {
        if (this.#program.dependentCounts[id]! > 0) kept = shareBuffers(kept);
        this.#ids.push(id);
        this.#values.push(kept);
      } else {
        kind = KIND_PRIVATE;
      }
    }
    this.#keep(id, kept);
    this.#learn(id, stop - start);
    this.log.write(id, kind, kind === KIND_NUMBER ? Number(value) : 0, start, stop);
    this.#letGo(id);
  }

  fail(id: number, thrown: unknown, start: number, stop: number): void {
    this.#errors.push({ id, error: toErrorInfo(thrown) });
    this.log.write(id, KIND_ERROR, 0, start, stop);
  }

  /** Values or errors wait to be sent. */
  get hasUnsent(): boolean {
    return this.#ids.length > 0 || this.#errors.length > 0;
  }

  /**
   * Whether tasks like the next one have been short lately. Before any other task what is finished must be sent, because nothing
   * can be sent while a task computes.
   */
  isShort(id: number, seconds: number): boolean {
    const slowest = this.#slowestOf(id);
    return slowest < seconds;
  }

  /** What waits to be sent, which then waits no more. */
  takeUnsent(): { values: Values; errors: { id: number; error: ErrorInfo }[] } {
    const unsent = {
      values: { ids: Int32Array.from(this.#ids), values: this.#values },
      errors: this.#errors,
    };
    this.#ids = [];
    this.#values = [];
    this.#errors = [];
    return unsent;
  }

  release(ids: Int32Array): void {
    for (const id of ids) this.#results[id] = undefined;
  }

  /** Results that were kept private, shared now if they are large, and those that were dropped meanwhile. */
  fetch(ids: Int32Array): { values: Values; missing: Int32Array } {
    const present = ids.filter((id) => this.#results[id] !== undefined);
    const values = Array.from(present, (id) => {
      const shared = shareBuffers(this.#results[id]);
      this.#results[id] = shared;
      return shared;
    });
    return { values: { ids: present, values }, missing: ids.filter((id) => !present.includes(id)) };
  }

  #keep(id: number, value: unknown): void {
    const uses = this.#program.dependentCounts[id]!;
    if (uses === 0) return;
    this.#uses[id] = uses;
    this.#results[id] = value;
  }

  /** The task used its dependencies; a result that was needed for the last time is dropped. */
  #letGo(id: number): void {
    const { dependencyOffsets, dependencies } = this.#program;
    const end = dependencyOffsets[id + 1]!;
    for (let edge = dependencyOffsets[id]!; edge < end; edge++) {
      const dependency = dependencies[edge]!;
      if (--this.#uses[dependency]! === 0) this.#results[dependency] = undefined;
    }
  }

  #functionOf(id: number): number {
    const at = this.#program.tokenOffsets[id]!;
    return this.#program.operations[at] === OP_CALL ? this.#program.operands[at]! % CALL_BASE : -1;
  }

  #slowestOf(id: number): number {
    const fn = this.#functionOf(id);
    return fn < 0 ? 0 : this.#slowest[fn]!;
  }

  #learn(id: number, seconds: number): void {
    const fn = this.#functionOf(id);
    if (fn < 0) return;
    const slowest = this.#slowest[fn]!;
    // Fades by 2 % a call, so that the first calls, which V8 has not optimised yet, do not count for ever.
    this.#slowest[fn] = slowest > seconds ? slowest + (seconds - slowest) * 0.02 : seconds;
  }
}

/** The error of a result that cannot be copied, for the given reason. */
export function notCloneable(reason: unknown): LongpoleError {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_CLONEABLE',
    `The result cannot leave its isolate: ${why} Return plain data, and let the next task build from it what it needs.`,
    { cause: reason },
  );
}

/** Whether a value can be sent as it is; used to find the culprit when a message could not be sent. */
export function cloneError(value: unknown): unknown {
  if (isScalar(kindOf(value))) return undefined;
  try {
    structuredClone(value);
    return undefined;
  } catch (error) {
    return error;
  }
}

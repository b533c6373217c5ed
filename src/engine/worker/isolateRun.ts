// One run inside an isolate: its program, the results that are kept here, and what has to be reported.
import { LongpoleError, messageOf } from '../../base/errors.js';
import { sizeOf } from '../../graph/sizeOf.js';
import { CompletionLog } from '../../protocol/completionLog.js';
import { type ErrorInfo, fromErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import { type Frames, framesBytes } from '../../protocol/frames.js';
import type { OpenRunMessage, PackedValues, RunBatch, Values } from '../../protocol/isolateMessages.js';
import { CALL_BASE, OP_CALL, type Program } from '../../protocol/program.js';
import {
  KIND_ERROR,
  KIND_NUMBER,
  KIND_PRIVATE,
  KIND_SKIPPED,
  KIND_STORED,
  KIND_VALUE,
  kindOf,
  typeOf,
} from '../../protocol/resultKinds.js';
import { Evaluator, type TaskCallable, Uncloneable } from './evaluator.js';
import type { MeteredRun } from './isolateMetrics.js';
import { markTasks } from './nvtx.js';
import { ownResult } from './ownResult.js';
import { packFrames, unpackFrames } from './packFrames.js';
import { argumentsOf, withPlainObjectHint } from './plainObjectHint.js';
import { shareBuffers } from './shareBuffers.js';
import { weighShared } from './sharedWeight.js';

/** Inputs from elsewhere are dropped when the scheduler says so, not by counting. */
const KEEP = 0x7fffffff;
/** Up to here the size of a result that stays in its isolate is measured, in bytes; of arrays it is known anyway. */
const MEASURED_BYTES = 64 * 1024;
const UNDEFINED_TYPE = 0;

/** What waits to be sent. */
export interface Unsent {
  readonly values: Values;
  readonly packed: PackedValues;
  readonly errors: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** How a task ran; times are seconds since the epoch. */
export interface TaskRun {
  id: number;
  /** When its batch was taken in. */
  received: number;
  start: number;
  stop: number;
  /** Seconds in which it waited for a core; NaN: not known. */
  coreWait: number;
}

/** How a result leaves its isolate, or stays. */
interface Publication {
  readonly kind: number;
  readonly kept: unknown;
  readonly bytes: number;
}

export class IsolateRun {
  readonly log: CompletionLog;
  readonly claims: Int32Array;
  readonly #wanted: Uint8Array;
  /** Set once the functions are loaded; batches wait for it. */
  ready: Promise<void> | undefined;
  /** Measures its tasks; undefined: nobody wants to know. */
  readonly metered: MeteredRun | undefined;
  readonly #program: Program;
  readonly #results: unknown[];
  /** Dependents that have not run here. At 0 the result is dropped. */
  readonly #uses: Int32Array;
  readonly #constants: unknown[] = [];
  readonly #functions: TaskCallable[] = [];
  readonly #evaluator: Evaluator;
  /** Function number → slowest call lately in seconds; NaN: none yet. */
  readonly #slowest: Float64Array;
  readonly #keys: readonly string[] | null;
  readonly #inlineBytes: number;
  readonly #names: readonly string[];
  /** Tasks that failed here, were skipped because of one, or could not be had, and have not been given since. */
  readonly #failed = new Set<number>();
  /** Inputs that could not be copied to here → why. */
  readonly #uncloneable = new Map<number, Error>();
  /** Results to drop as soon as the tasks that were sent here before have used them. */
  readonly #leaving = new Set<number>();
  #ids: number[] = [];
  #values: unknown[] = [];
  #packedIds: number[] = [];
  #packed: Frames[] = [];
  #errors: { id: number; error: ErrorInfo }[] = [];

  constructor(message: OpenRunMessage, metered?: MeteredRun) {
    const { program } = message;
    this.metered = metered;
    this.log = new CompletionLog(message.log);
    this.claims = message.claims;
    this.#wanted = message.wanted;
    this.#program = program;
    this.#keys = message.keys;
    this.#inlineBytes = message.inlineBytes;
    this.#names = message.functions.map(({ name }) => name);
    if (message.marks) markTasks();
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
      this.#receive(id, value);
    }
    this.#unpack(batch);
    for (const id of batch.lacking) this.#failed.add(id);
    for (let index = 0; index < batch.constants.ids.length; index++)
      this.#constants[batch.constants.ids[index]!] = batch.constants.values[index];
    for (const { id, error } of batch.uncloneable ?? [])
      this.#constants[id] = new Uncloneable(fromErrorInfo(error));
    for (const { id, error } of batch.uncloneableInputs ?? [])
      this.#uncloneable.set(id, fromErrorInfo(error));
  }

  /** Nobody says which of the tasks needs which input: the time counts for the first. */
  #unpack({ ids: [first = 0], packed }: RunBatch): void {
    for (const [index, id] of packed.ids.entries()) {
      const frames = packed.frames[index]!;
      const unpack = (): unknown => unpackFrames(frames);
      const value =
        this.metered === undefined
          ? unpack()
          : this.metered.beside(first, 'deserialize', unpack, () => framesBytes(frames));
      this.#receive(id, value);
    }
  }

  #receive(id: number, value: unknown): void {
    this.#results[id] = value;
    this.#uses[id] = KEEP;
    if (this.#failed.size > 0) this.#failed.delete(id);
    if (this.#leaving.size > 0) this.#leaving.delete(id);
    if (this.#uncloneable.size > 0) this.#uncloneable.delete(id);
  }

  /** Whether a dependency of the task failed here, so that it cannot run. */
  isBlocked(id: number): boolean {
    if (this.#failed.size === 0) return false;
    const { dependencyOffsets, dependencies } = this.#program;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
      if (this.#failed.has(dependencies[edge]!)) return true;
    return false;
  }

  /** The task cannot run: see isBlocked. */
  skip(id: number, received: number, now: number): void {
    this.#failed.add(id);
    this.log.write(id, KIND_SKIPPED, UNDEFINED_TYPE, 0, received, now, now, 0);
  }

  /** Nobody wants this run of the task any more; `batch` is that in which it began. */
  isUnwanted(id: number, batch: number): boolean {
    return this.log.cancelled || this.claims[id] !== -batch;
  }

  /** The task's key where it is known, the name of its function otherwise. */
  labelOf(id: number): string {
    return this.#keys?.[id] ?? this.#names[this.#functionOf(id)] ?? 'alias';
  }

  /** Calls the task's function. Throws what it throws, or why an input could not be copied to here. */
  evaluate(id: number): unknown {
    if (this.#uncloneable.size > 0) this.#checkInputs(id);
    return this.#evaluator.run(id);
  }

  #checkInputs(id: number): void {
    const { dependencyOffsets, dependencies } = this.#program;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const error = this.#uncloneable.get(dependencies[edge]!);
      if (error !== undefined) throw error;
    }
  }

  /** Keeps the result, prepares to send it if it is wanted outside, and logs the completion. */
  complete(value: unknown, ran: TaskRun): void {
    const kind = kindOf(value);
    if (kind === KIND_VALUE) this.#completeValue(value, ran);
    else this.#completed(kind, value, kind === KIND_NUMBER ? Number(value) : 0, ran);
  }

  #completeValue(value: unknown, ran: TaskRun): void {
    if (typeof value === 'function' || typeof value === 'symbol') {
      this.fail(notCloneable(`the task returned a ${typeof value}.`), ran);
      return;
    }
    let publication: Publication;
    try {
      publication = this.#publish(ran.id, ownResult(value));
    } catch (error) {
      this.fail(notCloneable(error), ran);
      return;
    }
    const { kind, kept, bytes } = publication;
    this.#completed(kind, kept, bytes, ran);
  }

  /** `number` is the value of a number, the bytes of another result. */
  #completed(kind: number, value: unknown, number: number, ran: TaskRun): void {
    const { id, received, start, stop, coreWait } = ran;
    this.#keep(id, value);
    this.#learn(id, stop - start);
    this.log.write(id, kind, typeOf(value), number, received, start, stop, coreWait);
    this.#letGo(id);
  }

  /** Throws if the value cannot be copied and has to be. */
  #publish(id: number, value: unknown): Publication {
    const local = this.#inlineBytes === Number.POSITIVE_INFINITY;
    // Nothing in a local scheduler depends on sizes, so they are not measured.
    const bytes = local ? Number.NaN : sizeOf(value, MEASURED_BYTES);
    if (this.#wanted[id] !== 1) return { kind: KIND_PRIVATE, kept: value, bytes };
    const needed = this.#program.dependentCounts[id]! > 0;
    if (local || bytes <= this.#inlineBytes) {
      const kept = needed && local ? shareBuffers(value) : value;
      this.#ids.push(id);
      this.#values.push(kept);
      return { kind: KIND_VALUE, kept, bytes };
    }
    const pack = (): Frames => packFrames(value);
    const frames =
      this.metered === undefined ? pack() : this.metered.beside(id, 'serialize', pack, framesBytes);
    this.#packedIds.push(id);
    this.#packed.push(frames);
    // The same memory as the store has, instead of a second copy of it.
    const kept = needed && frames.buffers.length > 0 ? unpackFrames(frames) : value;
    return { kind: KIND_STORED, kept, bytes: framesBytes(frames) };
  }

  fail(thrown: unknown, { id, received, start, stop, coreWait }: TaskRun): void {
    this.#failed.add(id);
    const values = (): unknown[] => argumentsOf(this.#program, id, this.#results, this.#constants);
    this.#errors.push({ id, error: toErrorInfo(withPlainObjectHint(thrown, values)) });
    this.log.write(id, KIND_ERROR, UNDEFINED_TYPE, 0, received, start, stop, coreWait);
  }

  /** Values or errors wait to be sent. */
  get hasUnsent(): boolean {
    return this.#ids.length > 0 || this.#packedIds.length > 0 || this.#errors.length > 0;
  }

  /**
   * Whether tasks like the next one have been short lately. Before any other task what is finished must be sent, because nothing
   * can be sent while a task computes.
   */
  isShort(id: number, seconds: number): boolean {
    const fn = this.#functionOf(id);
    return fn < 0 || this.#slowest[fn]! < seconds;
  }

  /** What waits to be sent, which then waits no more. */
  takeUnsent(): Unsent {
    const unsent = {
      values: { ids: Int32Array.from(this.#ids), values: this.#values },
      packed: { ids: Int32Array.from(this.#packedIds), frames: this.#packed },
      errors: this.#errors,
    };
    this.#ids = [];
    this.#values = [];
    this.#packedIds = [];
    this.#packed = [];
    this.#errors = [];
    return unsent;
  }

  release(ids: Int32Array): void {
    for (const id of ids) this.#results[id] = undefined;
  }

  get isLeaving(): boolean {
    return this.#leaving.size > 0;
  }

  /** Drops results that others keep; those that tasks in `batches` are about to use when it is asked the next time. */
  evict(ids: Int32Array, batches: readonly RunBatch[]): void {
    const needed = new Set<number>();
    const { dependencyOffsets, dependencies } = this.#program;
    for (const batch of batches) {
      for (const id of batch.ids) {
        if (this.claims[id] !== batch.batch) continue;
        for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
          needed.add(dependencies[edge]!);
      }
    }
    const leaving = [...ids, ...this.#leaving];
    this.#leaving.clear();
    for (const id of leaving) {
      if (needed.has(id)) this.#leaving.add(id);
      else this.#results[id] = undefined;
    }
  }

  /** Results that were kept private, packed or shared now if they are large, and those that were dropped meanwhile. */
  fetch(ids: Int32Array): Unsent & { missing: Int32Array } {
    const missing: number[] = [];
    const valueIds: number[] = [];
    const values: unknown[] = [];
    const packedIds: number[] = [];
    const frames: Frames[] = [];
    const errors: { id: number; error: ErrorInfo }[] = [];
    for (const id of ids) {
      const value = this.#results[id];
      if (value === undefined) missing.push(id);
      else if (sizeOf(value, this.#inlineBytes) <= this.#inlineBytes) {
        const shared = this.#inlineBytes === Number.POSITIVE_INFINITY ? shareBuffers(value) : value;
        this.#results[id] = shared;
        valueIds.push(id);
        values.push(shared);
      } else {
        try {
          frames.push(packFrames(value));
          packedIds.push(id);
        } catch (error) {
          errors.push({ id, error: toErrorInfo(notCloneable(error)) });
        }
      }
    }
    return {
      values: { ids: Int32Array.from(valueIds), values },
      packed: { ids: Int32Array.from(packedIds), frames },
      errors,
      missing: Int32Array.from(missing),
    };
  }

  #keep(id: number, value: unknown): void {
    if (this.#failed.size > 0) this.#failed.delete(id);
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
  const why = messageOf(reason);
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_CLONEABLE',
    `The result cannot leave its isolate: ${why} Return plain data, and let the next task build from it what it needs.`,
    { cause: reason },
  );
}

// One run inside an isolate: its program, the results kept here, and unsent reports.
import { internalError } from '../../base/errors.js';
import { sizeOf } from '../../graph/sizeOf.js';
import type { CompletionLog } from '../../protocol/completionLog.js';
import { fromErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import {
  type Batch,
  NO_PACKED,
  type OpenRunMessage,
  type RunMemory,
} from '../../protocol/isolateMessages.js';
import { packedBytes } from '../../protocol/packedResult.js';
import { dependenciesOf, functionOf, type Program } from '../../protocol/program.js';
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
import { unpackProgram } from '../../protocol/shortMessages.js';
import { STAYED, type TaskRun } from '../../protocol/taskRun.js';
import { Evaluator, type TaskCallable, Uncloneable } from './evaluator.js';
import type { MeteredRun } from './isolateMetrics.js';
import { notCloneable } from './notCloneable.js';
import { markTasks } from './nvtx.js';
import { ownResult } from './ownResult.js';
import { packResult, unpackResult } from './packResult.js';
import { argumentsOf } from './plainObjectHint.js';
import { addForProgram, keptBeside, type Publication, recordedBytes } from './publication.js';
import { shapeOf } from './shapeOf.js';
import { weighShared } from './sharedWeight.js';
import { UNTIMED, type WorkTimer } from './slowCopies.js';
import { thrownByTask } from './thrownByTask.js';
import { type Unsent, UnsentResults } from './unsentResults.js';

/** Use count of inputs from elsewhere. The scheduler releases them, so they are not dropped by counting. */
const KEEP = 0x7fffffff;
/** Bytes up to which the size of a private result is measured; the size of arrays is always known. */
const MEASURED_BYTES = 64 * 1024;
const UNDEFINED_TYPE = 0;

/** The isolate's views of a RunMemory. */
export interface IsolateMemory extends Pick<RunMemory, 'claims' | 'wanted'> {
  readonly log: CompletionLog;
}

export class IsolateRun {
  /** See OpenRunMessage.opening. */
  readonly opening: number;
  readonly log: CompletionLog;
  readonly #logNumber: number | undefined;
  #isClosed = false;
  readonly claims: Int32Array;
  /** See OpenRunMessage.concurrentTasks. */
  readonly concurrentTasks: number;
  readonly #wanted: Uint8Array;
  /** Set once the functions are loaded; batches wait for it. */
  ready: Promise<void> | undefined;
  /** Measures the tasks; undefined if they are not measured. */
  readonly metered: MeteredRun | undefined;
  readonly #timer: WorkTimer;
  readonly #program: Program;
  readonly #results: unknown[];
  /** Number of dependents that have not run here. At 0 the result is dropped, or has not arrived. */
  readonly #uses: Int32Array;
  readonly #constants: unknown[] = [];
  readonly #functions: TaskCallable[] = [];
  readonly #evaluator: Evaluator;
  /** Function number → slowest recent call in seconds; NaN before the first. */
  readonly #slowest: Float64Array;
  readonly #keys: readonly string[] | null;
  readonly #inlineBytes: number;
  /** Whether results go to the program of a local scheduler, and not to the store of a worker. */
  readonly #isLocal: boolean;
  readonly #isSized: boolean;
  readonly #names: readonly string[];
  /** Tasks that failed or seceded here, were skipped, or could not be fetched, and have no result since. */
  readonly #failed = new Set<number>();
  /** Inputs that could not be copied to this isolate → the error. */
  readonly #uncloneable = new Map<number, Error>();
  /** Results to drop as soon as the earlier tasks of this isolate have used them. */
  readonly #leaving = new Set<number>();
  readonly #unsent = new UnsentResults();

  /** @param timer times the packing and unpacking of results */
  constructor(
    message: OpenRunMessage,
    { log, claims, wanted }: IsolateMemory,
    metered?: MeteredRun,
    timer: WorkTimer = metered ?? UNTIMED,
  ) {
    const program = unpackProgram(message.program);
    this.metered = metered;
    this.#timer = timer;
    this.opening = message.opening;
    this.log = log;
    this.#logNumber = message.log.number;
    this.claims = claims;
    this.concurrentTasks = message.concurrentTasks ?? 1;
    this.#wanted = wanted;
    this.#program = program;
    this.#keys = message.keys ?? null;
    this.#inlineBytes = message.inlineBytes;
    this.#isLocal = message.inlineBytes === Number.POSITIVE_INFINITY;
    this.#isSized = message.sized ?? true;
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

  /** Takes the inputs and constants of a batch. */
  accept(batch: Batch): void {
    for (let index = 0; index < batch.inputs.ids.length; index++) {
      const value = batch.inputs.values[index];
      weighShared(value);
      this.#receive(batch.inputs.ids[index]!, value);
    }
    this.#unpack(batch);
    // No peer had these inputs. This isolate may have computed one of them in another batch. A task that runs again then
    // counts its use again, and must not drop the input before other tasks have used it.
    for (const id of batch.lacking ?? []) {
      if (this.#uses[id] === 0) this.#failed.add(id);
      else this.#uses[id] = KEEP;
    }
    for (let index = 0; index < batch.constants.ids.length; index++)
      this.#constants[batch.constants.ids[index]!] = batch.constants.values[index];
    for (const { id, error } of batch.uncloneable ?? [])
      this.#constants[id] = new Uncloneable(fromErrorInfo(error));
    for (const { id, error } of batch.uncloneableInputs ?? []) {
      this.#drop(id);
      this.#uncloneable.set(id, fromErrorInfo(error));
    }
  }

  /** Unpacks inputs. The time counts for the first task, because the message does not relate inputs to tasks. */
  #unpack({ ids: [first = 0], packed = NO_PACKED }: Batch): void {
    for (const [index, id] of packed.ids.entries()) {
      const result = packed.results[index]!;
      const unpack = (): unknown => unpackResult(result);
      this.#receive(
        id,
        this.#timer.beside(first, 'deserialize', unpack, () => packedBytes(result)),
      );
    }
  }

  #receive(id: number, value: unknown): void {
    this.#results[id] = value;
    this.#uses[id] = KEEP;
    if (this.#failed.size > 0) this.#failed.delete(id);
    if (this.#uncloneable.size > 0) this.#uncloneable.delete(id);
  }

  /** Returns whether a dependency of the task failed here, or has not ended, so that it cannot run. */
  isBlocked(id: number): boolean {
    if (this.#failed.size === 0) return false;
    return dependenciesOf(this.#program, id).some((dependency) => this.#failed.has(dependency));
  }

  /** The task leaves its slot. Later tasks may need its result before it ends, and are skipped. */
  secede(id: number): void {
    this.#failed.add(id);
    this.log.leave(id);
  }

  /**
   * Whether the log has room for the completion of a seceded task. The outstanding tasks in batches need at most half of
   * a log that is smaller than the program.
   */
  get hasRoom(): boolean {
    return this.log.capacity >= this.#program.size || 2 * this.log.unread < this.log.capacity;
  }

  /** Reports a task that cannot run: see isBlocked. */
  skip(id: number, batch: number, received: number, now: number): void {
    this.#failed.add(id);
    const ran = { id, batch, received, start: now, stop: now, coreWait: 0, ...STAYED };
    this.log.write(ran, KIND_SKIPPED, UNDEFINED_TYPE, 0);
  }

  /** Whether the run starts no more tasks. The log of a closed run may serve another one. */
  get isCancelled(): boolean {
    return this.#isClosed || this.log.cancelled;
  }

  /** Closes the run. Returns the number of its log if no task of it still runs. */
  close(): number | undefined {
    this.#isClosed = true;
    return this.log.running === -1 && this.log.away === 0 ? this.#logNumber : undefined;
  }

  /** Returns whether this run of the task, started in `batch`, is not needed any more. */
  isUnwanted(id: number, batch: number): boolean {
    return this.isCancelled || this.claims[id] !== -batch;
  }

  /** Returns the task's key if known, otherwise the name of its function. */
  labelOf(id: number): string {
    return this.#keys?.[id] ?? this.#names[functionOf(this.#program, id)] ?? 'alias';
  }

  /**
   * Calls the task's function. Throws its exception, or an error if an input could not be copied, or is not here. Without
   * this check the function would receive `undefined` and might return a wrong result.
   */
  evaluate(id: number): unknown {
    const { dependencyOffsets, dependencies } = this.#program;
    const end = dependencyOffsets[id + 1]!;
    for (let edge = dependencyOffsets[id]!; edge < end; edge++)
      if (this.#uses[dependencies[edge]!] === 0) throw this.#absent(dependencies[edge]!, id);
    return this.#evaluator.run(id);
  }

  #absent(input: number, id: number): Error {
    const known = this.#uncloneable.get(input);
    if (known !== undefined) return known;
    return internalError(`The input '${this.labelOf(input)}' of '${this.labelOf(id)}' is not on its worker.`);
  }

  #drop(id: number): void {
    this.#results[id] = undefined;
    this.#uses[id] = 0;
  }

  /** Keeps the result, prepares it for sending if requested, and logs the completion. */
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
      publication = this.#publish(ran.id, ownResult(value), ran.stop - ran.start);
    } catch (error) {
      this.fail(notCloneable(error), ran);
      return;
    }
    const { kind, kept, bytes } = publication;
    // Local schedulers have no plugin that records shapes.
    this.#completed(kind, kept, bytes, ran, this.#isLocal ? undefined : shapeOf(value));
  }

  /** Logs a completion. `number` is the value of a number, and the bytes of any other result. */
  #completed(kind: number, value: unknown, number: number, ran: TaskRun, shape?: readonly number[]): void {
    const { id, start, stop } = ran;
    this.#keep(id, value);
    this.#learn(id, stop - start);
    this.log.write(ran, kind, typeOf(value), number, shape);
    this.#countUses(id);
  }

  #bytesOf(value: unknown, seconds: number): number {
    if (!this.#isLocal) return sizeOf(value, MEASURED_BYTES);
    return this.#isSized ? recordedBytes(value, seconds) : Number.NaN;
  }

  /** Queues a result for sending if others need it. Throws if the value must be copied and cannot be. */
  #publish(id: number, value: unknown, seconds: number): Publication {
    const bytes = this.#bytesOf(value, seconds);
    if (this.#wanted[id] !== 1) return { kind: KIND_PRIVATE, kept: value, bytes };
    const needed = this.#program.dependentCounts[id]! > 0;
    if (this.#isLocal) return addForProgram(this.#unsent, this.#timer, id, value, needed, bytes);
    if (bytes <= this.#inlineBytes) {
      this.#unsent.addValue(id, value);
      return { kind: KIND_VALUE, kept: value, bytes };
    }
    const packed = this.#timer.beside(id, 'serialize', () => packResult(value), packedBytes);
    this.#unsent.addPacked(id, packed);
    const kept = needed ? keptBeside(packed, value) : value;
    return { kind: KIND_STORED, kept, bytes: packedBytes(packed) };
  }

  fail(thrown: unknown, ran: TaskRun): void {
    const { id } = ran;
    this.#failed.add(id);
    const values = (): unknown[] => argumentsOf(this.#program, id, this.#results, this.#constants);
    this.#unsent.addError(id, thrownByTask(thrown, values));
    this.log.write(ran, KIND_ERROR, UNDEFINED_TYPE, 0);
  }

  /** True if values or errors wait to be sent. */
  get hasUnsent(): boolean {
    return !this.#unsent.isEmpty;
  }

  /**
   * Returns whether recent tasks like the next one were short. Before any other task, finished results must be sent,
   * because nothing can be sent while a task computes.
   */
  isShort(id: number, seconds: number): boolean {
    const fn = functionOf(this.#program, id);
    return fn < 0 || this.#slowest[fn]! < seconds;
  }

  /** Returns the unsent values and errors, and clears them. */
  takeUnsent(): Unsent {
    return this.#unsent.take();
  }

  release(ids: Int32Array): void {
    for (const id of ids) this.#drop(id);
  }

  get isLeaving(): boolean {
    return this.#leaving.size > 0;
  }

  /** A batch has arrived with results, of which the host evicts the copies again when it must. */
  arrived({ packed = NO_PACKED, inputs }: Batch): void {
    if (this.#leaving.size === 0) return;
    for (const id of [...packed.ids, ...inputs.ids]) this.#leaving.delete(id);
  }

  /** Drops results that have another holder. Results that these batches will use are dropped by a later call. */
  evict(ids: Int32Array, queued: readonly Batch[], current?: Batch): void {
    const needed = new Set(queued.flatMap(({ packed = NO_PACKED }) => [...packed.ids]));
    for (const batch of current === undefined ? queued : [...queued, current]) {
      const left = batch.ids.filter((id) => this.claims[id] === batch.batch);
      for (const id of left)
        for (const dependency of dependenciesOf(this.#program, id)) needed.add(dependency);
    }
    const leaving = [...ids, ...this.#leaving];
    this.#leaving.clear();
    for (const id of leaving) {
      if (needed.has(id)) this.#leaving.add(id);
      else this.#drop(id);
    }
  }

  /**
   * Returns results that are needed outside this isolate, and the ids of those that are gone. On a cluster, large results
   * are packed. On a local scheduler, large typed arrays are moved to shared memory.
   */
  fetch(ids: Int32Array): Unsent & { missing: Int32Array } {
    const missing: number[] = [];
    const found = new UnsentResults();
    for (const id of ids) {
      const value = this.#results[id];
      if (this.#uses[id] === 0) missing.push(id);
      else if (this.#isLocal)
        this.#results[id] = addForProgram(found, this.#timer, id, value, true, Number.NaN).kept;
      else if (sizeOf(value, this.#inlineBytes) <= this.#inlineBytes) found.addValue(id, value);
      else {
        try {
          found.addPacked(id, packResult(value));
        } catch (error) {
          found.addError(id, toErrorInfo(notCloneable(error)));
        }
      }
    }
    return { ...found.take(), missing: Int32Array.from(missing) };
  }

  #keep(id: number, value: unknown): void {
    if (this.#failed.size > 0) this.#failed.delete(id);
    if (this.#leaving.size > 0) this.#leaving.delete(id);
    const uses = this.#program.dependentCounts[id]!;
    if (uses === 0) return;
    this.#uses[id] = uses;
    this.#results[id] = value;
  }

  /** Counts the task's use of its dependencies. A result is dropped after its last use. */
  #countUses(id: number): void {
    const { dependencyOffsets, dependencies } = this.#program;
    const end = dependencyOffsets[id + 1]!;
    for (let edge = dependencyOffsets[id]!; edge < end; edge++) {
      const dependency = dependencies[edge]!;
      // The result may have been dropped while this task was waiting outside its slot.
      if (this.#uses[dependency]! > 0 && --this.#uses[dependency]! === 0) this.#drop(dependency);
    }
  }

  #learn(id: number, seconds: number): void {
    const fn = functionOf(this.#program, id);
    if (fn < 0) return;
    const slowest = this.#slowest[fn]!;
    // The maximum decays by 2 % a call, so that early calls, which V8 had not optimised yet, lose their weight.
    this.#slowest[fn] = slowest > seconds ? slowest + (seconds - slowest) * 0.02 : seconds;
  }
}

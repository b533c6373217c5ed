// Carries out the scheduler's instructions as calls of workers' hosts. Translates the scheduler's ids of tasks to the
// local ids of their computation.

import { internalError, LongpoleError, notCopyable } from '../../base/errors.js';
import { type Handlers, handle } from '../../base/handlers.js';
import { TASK_CANCELLED, TASK_SKIPPED } from '../../protocol/clusterObserver.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import { type Batch, NO_VALUES } from '../../protocol/isolateMessages.js';
import type { GatherInput } from '../../protocol/packedResult.js';
import { dependenciesOf, dependentsOf, OP_CONSTANT, OP_OBJECT } from '../../protocol/program.js';
import { packNumbers } from '../../protocol/shortMessages.js';
import { batchConstants } from '../batchValues.js';
import { MOST_IN_BATCHES } from '../scheduler/batching.js';
import type { Dispatch, Erred, Instruction, Release, Steal } from '../scheduler/events.js';
import type { SchedulerState } from '../scheduler/schedulerState.js';
import { ERRED, FORGOTTEN } from '../scheduler/taskStates.js';
import { taskError } from '../taskFailure.js';
import type { ComputationState } from './computationState.js';
import { reportDropped, reportFailed, reportUndropped, reportUnneeded } from './droppedTasks.js';
import type { EngineParts } from './engineParts.js';
import type { EngineWorker, RunTasks } from './engineWorker.js';

/**
 * Completions for which the log of a worker has room: half for tasks in batches, and half for seceded tasks, whose ends
 * the host has not read.
 */
const MOST_OUTSTANDING = 2 * MOST_IN_BATCHES;

export class InstructionRunner {
  readonly #engine: EngineParts;
  readonly #handlers: Handlers<Instruction> = {
    dispatch: (instruction) => {
      try {
        this.#dispatch(instruction);
      } catch (error) {
        this.#notSent(instruction, error);
      }
    },
    release: (instruction) => this.#release(instruction),
    steal: (instruction) => this.#steal(instruction),
    fetch: ({ worker, ids }) =>
      this.#byComputation(ids, ({ info: { number } }, locals) =>
        this.#engine.workers.get(worker)?.host.fetch(number, locals),
      ),
    cancel: ({ worker, ids }) =>
      this.#byComputation(ids, (computation, locals) => {
        const { number } = computation.info;
        this.#recordCancelled(computation, worker, locals);
        this.#engine.questions.cancelled(worker, number, locals);
        this.#engine.workers.get(worker)?.host.cancel(number, locals);
      }),
    erred: (instruction) => this.#erred(instruction),
    'task-killed': ({ worker, id, attempts }) => this.#engine.workers.get(worker)?.killed(id, attempts),
  };

  constructor(engine: EngineParts) {
    this.#engine = engine;
  }

  /**
   * Carries out all instructions, also those that are added meanwhile, and returns the thrown errors. The scheduler
   * counts every instruction as carried out, so a failed one must not stop the others.
   */
  carryOutAll(instructions: readonly Instruction[]): unknown[] {
    const thrown: unknown[] = [];
    for (let at = 0; at < instructions.length; at++) {
      try {
        const instruction = instructions[at]!;
        handle(this.#handlers, instruction.type, instruction);
      } catch (error) {
        thrown.push(error);
      }
    }
    return thrown;
  }

  #dispatch({ worker: index, batch, ids, publish, keep, inputs }: Dispatch): void {
    const worker = this.#engine.workers.get(index);
    const segment = this.#engine.scheduler.state.graph.segmentOf(ids[0]!);
    const computation = this.#engine.computationOf(segment);
    if (worker === undefined || computation === undefined) return;
    const { base } = segment;
    const local = base === 0 ? ids : ids.map((id) => id - base);
    const now = this.#engine.clock();
    for (const id of local) computation.dispatchedAt[id] = now;
    reportUndropped(this.#engine, computation, local);
    if (!computation.opened.has(index)) this.#open(computation, worker);
    const gather: GatherInput[] = [];
    const inlineIds: number[] = [];
    const inline: unknown[] = [];
    for (const input of inputs) this.#addInput(computation, input - base, { gather, inlineIds, inline });
    for (const { result } of gather) this.#engine.stored.add(result, index);
    const message: Batch = {
      type: 'batch',
      run: computation.info.number,
      batch,
      ids: local,
      publish,
      keep: base === 0 ? keep : keep.map((id) => id - base),
      inputs: inlineIds.length === 0 ? NO_VALUES : { ids: packNumbers(inlineIds), values: inline },
      gather,
      constants: batchConstants(computation, local),
    };
    const post = (): void => worker.host.dispatch(message);
    const { sent, hasObservers, clock } = this.#engine;
    if (hasObservers && message.constants.values.length > 0)
      sent.send(computation, index, message, clock, post);
    else post();
  }

  /** Fails the tasks of a batch that could not be sent, and marks its inputs as missing on the worker. */
  #notSent({ worker, ids, inputs }: Dispatch, thrown: unknown): void {
    const { graph } = this.#engine.scheduler.state;
    const segment = graph.segmentOf(ids[0]!);
    const computation = this.#engine.computationOf(segment);
    if (computation === undefined) throw thrown;
    const name = this.#engine.workers.get(worker)?.info.name ?? String(worker);
    const cause =
      thrown instanceof LongpoleError
        ? thrown
        : notCopyable(
            `Its batch could not be sent to worker ${name}`,
            thrown,
            'Pass plain data as arguments.',
          );
    this.#engine.handleEvent({ type: 'results-evicted', worker, ids: [...inputs] });
    for (const id of ids) {
      const local = id - segment.base;
      this.#engine.explain(computation, local, taskError(computation.info, local, name, cause));
      this.#engine.handleEvent({ type: 'task-erred', worker, id, final: true });
    }
  }

  #steal({ worker, ids, thief }: Steal): void {
    const parts: RunTasks[] = [];
    this.#byComputation(ids, ({ info }, locals) => parts.push({ run: info.number, ids: locals }));
    this.#engine.workers.get(worker)?.steal(parts, thief);
  }

  #addInput(
    computation: ComputationState,
    local: number,
    into: { gather: GatherInput[]; inlineIds: number[]; inline: unknown[] },
  ): void {
    const handle = computation.imports.get(local);
    const owner = handle?.computation ?? computation;
    const at = handle?.local ?? local;
    if (this.#engine.scheduler.state.stored[owner.segment.base + at] !== 0) {
      into.gather.push(this.#engine.gatherInput(owner, at, local));
      return;
    }
    into.inlineIds.push(local);
    into.inline.push(owner.results[at]);
  }

  #open(computation: ComputationState, worker: EngineWorker): void {
    const { program, functions, timeout, info, kinds } = computation;
    computation.opened.add(worker.info.index);
    worker.host.open({
      run: info.number,
      firstId: info.firstId,
      program,
      functions,
      timeout,
      kinds,
      maxOutstanding: Math.min(info.size, MOST_OUTSTANDING),
      inlineBytes: this.#engine.options.inlineBytes,
      concurrentTasks: this.#engine.options.concurrentTasks ?? 1,
      keys: this.#needsKeys(functions) ? info.keys : null,
      marks: this.#engine.marksTasks,
    });
  }

  /** Returns whether isolates need the keys of tasks: for plugins, NVTX ranges and tasks in Python. */
  #needsKeys(functions: readonly FunctionRef[]): boolean {
    const { installed, marksTasks } = this.#engine;
    return installed.size > 0 || marksTasks || functions.some(({ type }) => type === 'python');
  }

  #release({ ids, workers }: Release): void {
    const dead = new Set<ComputationState>();
    const alive = new Set<ComputationState>();
    this.#byComputation(ids, (computation, locals) => {
      reportUnneeded(this.#engine, computation, locals);
      for (const local of locals) {
        computation.results[local] = undefined;
        if (this.#engine.stored.size === 0) continue;
        const result = computation.resultId(local);
        for (const holder of this.#engine.stored.remove(result))
          this.#engine.workers.get(holder)?.host.drop([result]);
      }
      if (computation.segment.dead) dead.add(computation);
      else {
        dropSpentArguments(computation, locals, this.#engine.scheduler.state);
        alive.add(computation);
      }
    });
    for (const { worker, ids: copies } of workers)
      this.#byComputation(copies, (computation, locals) =>
        this.#engine.workers.get(worker)?.host.release(computation.info.number, locals),
      );
    // The last unfinished task may have been one whose result has no use any more.
    for (const computation of alive) this.#engine.closeIfSettled(computation);
    for (const computation of dead) this.#engine.forget(computation.segment);
  }

  #recordCancelled(computation: ComputationState, worker: number, locals: Int32Array): void {
    const { hasObservers, recorder, scheduler, clock } = this.#engine;
    if (!hasObservers) return;
    const { readyAt } = scheduler.state;
    for (const id of locals)
      recorder.unfinished(
        computation,
        worker,
        id,
        readyAt[computation.segment.base + id]!,
        clock(),
        TASK_CANCELLED,
      );
  }

  #erred({ ids, lost, because, cancelled = false }: Erred): void {
    const error = this.#reasonOf(because, lost);
    const touched = new Set<ComputationState>();
    for (const id of ids) {
      const found = this.#engine.locate(id);
      if (found === undefined) continue;
      touched.add(found.computation);
      if (this.#engine.scheduler.state.graph.requested[id] === 1)
        found.computation.failed(found.local, error, cancelled ? 'cancelled' : 'error');
    }
    const hasFailed = !cancelled && ids[0] === because;
    const failed = hasFailed ? this.#engine.locate(because) : undefined;
    if (failed !== undefined) reportFailed(this.#engine, failed.computation, because);
    this.#byComputation(hasFailed ? ids.subarray(1) : ids, (computation, locals) =>
      reportDropped(this.#engine, computation, locals, cancelled ? TASK_CANCELLED : TASK_SKIPPED),
    );
    for (const computation of touched) this.#engine.closeIfSettled(computation);
  }

  /** Returns the error for a task that failed, or that depends on a task that failed earlier. */
  #reasonOf(id: number, lost: boolean): unknown {
    const found = this.#knownReason(id);
    if (found !== undefined) return found;
    const task = this.#engine.locate(id);
    const key = task?.computation.info.keys[task.local] ?? '';
    if (!lost) return internalError(`Task '${key}' failed without an error.`);
    return new LongpoleError(
      'ERR_LONGPOLE_DATA_LOST',
      `The data '${key}' was scattered to a worker that has died, and cannot be computed again. Scatter it again, with broadcast: true to keep a copy on every worker.`,
    );
  }

  /**
   * Returns the known error of a task or of its failed dependencies. Only failed tasks and clients' handles keep
   * errors.
   */
  #knownReason(id: number): unknown {
    const { graph, state } = this.#engine.scheduler.state;
    for (let at: number | undefined = id; at !== undefined; ) {
      const segment = graph.segmentOf(at);
      const computation = this.#engine.computationOf(segment);
      const local = at - segment.base;
      const known =
        computation?.reasons.get(local) ??
        computation?.handles.get(local)?.error ??
        computation?.imports.get(local)?.error;
      if (known !== undefined) return known;
      at = dependenciesOf(graph, at).find((dependency) => state[dependency] === ERRED);
    }
    return undefined;
  }

  /** Calls `each` for each run of consecutive ids of one computation, with local ids. */
  #byComputation(ids: Int32Array, each: (computation: ComputationState, locals: Int32Array) => void): void {
    const { graph } = this.#engine.scheduler.state;
    for (let from = 0; from < ids.length; ) {
      const segment = graph.segmentOf(ids[from]!);
      const end = segment.base + segment.size;
      let to = from + 1;
      while (to < ids.length && ids[to]! >= segment.base && ids[to]! < end) to++;
      const computation = this.#engine.computationOf(segment);
      if (computation !== undefined) {
        // A part of a short array costs as much as a message, because V8 moves its numbers out of the heap first.
        const part = to - from === ids.length ? ids : ids.subarray(from, to);
        each(computation, segment.base === 0 ? part : part.map((id) => id - segment.base));
      }
      from = to;
    }
  }
}

/**
 * Drops the arguments of tasks that were just forgotten and of dependencies that only they needed, unless a remaining
 * lineage needs them. Cost: one visit per dependent of a task.
 */
function dropSpentArguments(
  computation: ComputationState,
  locals: Int32Array,
  { graph, state }: SchedulerState,
): void {
  const { constants, program, segment } = computation;
  if (constants.length === 0 || segment.dead) return;
  const { tokenOffsets, operations, operands } = program;
  computation.spent ??= new Uint8Array(program.size);
  const { spent } = computation;
  const isNeeded = (id: number): boolean => {
    if (state[id] !== FORGOTTEN || graph.importersOf(id).length > 0) return true;
    return dependentsOf(graph, id).some((dependent) => spent[dependent - segment.base] === 0);
  };
  const stack = [...locals];
  for (let local = stack.pop(); local !== undefined; local = stack.pop()) {
    if (spent[local] === 1 || isNeeded(segment.base + local)) continue;
    spent[local] = 1;
    for (let at = tokenOffsets[local]!; at < tokenOffsets[local + 1]!; at++)
      if (operations[at] === OP_CONSTANT || operations[at] === OP_OBJECT)
        constants[operands[at]!] = undefined;
    for (const dependency of dependenciesOf(program, local)) stack.push(dependency);
  }
}

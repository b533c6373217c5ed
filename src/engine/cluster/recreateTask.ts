// Runs the task of a future in this process, with the function and the inputs that its worker had, so that a debugger
// can stop inside the task.
import { invalidArgument, type LongpoleError, notCopyable, unusableFuture } from '../../base/errors.js';
import { originalOf } from '../../graph/shipFunction.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import { CALL_BASE, dependenciesOf, OP_CALL, OP_FUNCTION } from '../../protocol/program.js';
import { batchConstants } from '../batchValues.js';
import { Evaluator, isCallable, type TaskCallable } from '../worker/evaluator.js';
import { loadFunctions } from '../worker/loadFunctions.js';
import { bringResults, finished } from './bringResults.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ResultHandle } from './computationState.js';
import { checkLineage, failedTask, inputsOf, type TaskPlace } from './lineage.js';

/**
 * Runs the task of a result here. For a failed result, this is the task that failed. Inputs that were released are
 * computed again on the workers.
 *
 * @returns (resolves) what the function returns
 * @throws (rejects) what the function throws; LongpoleError ERR_LONGPOLE_FUTURE if the task has not ended or its lineage
 *   is unknown, ERR_LONGPOLE_DATA_LOST if scattered data no longer exists, ERR_LONGPOLE_INVALID_ARGUMENT if no function of
 *   JavaScript made the result, ERR_LONGPOLE_NOT_CLONEABLE if an input cannot be copied; the error of an input that fails
 */
export async function recreateTask(engine: ClusterEngine, handle: ResultHandle): Promise<unknown> {
  if (!handle.isSettled)
    throw unusableFuture(
      `The task '${handle.key}' has not ended, so it cannot run here yet. Call \`await future.wait()\` first.`,
    );
  checkLineage(engine, handle);
  const place = handle.status === 'error' ? failedTask(engine, handle) : handle;
  // No task threw the error, e.g. of lost data.
  if (place === undefined) throw handle.error;
  const { computation, local } = place;
  const key = computation.info.keys[local] ?? '';
  if (computation.segment.data) throw notATask(key, 'it is scattered data, which no function made');
  const functions = await functionsOf(place);
  const given = await engine.waits.during('Client.recreateTaskLocally', key, inputValues(engine, place));
  const constants = batchConstants(computation, Int32Array.of(local));
  const values = copied(key, { given, constants: constants.values });
  const results: unknown[] = [];
  const all: unknown[] = [];
  for (const [index, input] of dependenciesOf(computation.program, local).entries())
    results[input] = values.given[index];
  for (const [index, value] of values.constants.entries()) all[constants.ids[index]!] = value;
  return await new Evaluator(computation.program, results, functions, all).run(local);
}

/** Returns the functions that a task calls or has as arguments, by their numbers in the program. */
async function functionsOf({ computation, local }: TaskPlace): Promise<TaskCallable[]> {
  const { tokenOffsets, operations, operands } = computation.program;
  const found: TaskCallable[] = [];
  for (let at = tokenOffsets[local]!; at < tokenOffsets[local + 1]!; at++) {
    const isCall = operations[at] === OP_CALL;
    if (!isCall && operations[at] !== OP_FUNCTION) continue;
    const number = isCall ? operands[at]! % CALL_BASE : operands[at]!;
    found[number] = await callableOf(computation.functions[number]!);
  }
  return found;
}

/** Returns the function of the program if it still exists, because a debugger shows its lines; otherwise a copy. */
async function callableOf(ref: FunctionRef): Promise<TaskCallable> {
  if (ref.type === 'python')
    throw notATask(ref.name, `it is the function ${ref.target} of Python, which only a Dask worker runs`);
  const original = originalOf(ref);
  if (isCallable(original)) return original;
  const [loaded] = await loadFunctions([ref]);
  return loaded!;
}

/** Brings the results of a task's dependencies, in their order. Holds them meanwhile. */
async function inputValues(engine: ClusterEngine, place: TaskPlace): Promise<unknown[]> {
  const handles = inputsOf(engine, place).map((input) => held(engine, input));
  try {
    return await bringResults(engine, handles, () => finished(handles));
  } finally {
    for (const handle of handles) engine.results.release(handle);
  }
}

/** Returns a handle of a result with one more reference. A released result is computed again. */
function held(engine: ClusterEngine, { computation, local }: TaskPlace): ResultHandle {
  engine.results.flush();
  const known = computation.handles.get(local);
  const handle = known ?? computation.want(local);
  handle.references++;
  if (known === undefined)
    engine.handleEvent({ type: 'results-wanted', ids: [computation.segment.base + local] });
  return handle;
}

/** Copies values as a message to a worker would, so that the task cannot change the values of the program. */
function copied<T>(key: string, values: T): T {
  try {
    return structuredClone(values);
  } catch (error) {
    throw notCopyable(
      `An input of task '${key}' cannot be copied`,
      error,
      'Pass plain data, or create the value inside the task.',
    );
  }
}

function notATask(name: string, why: string): LongpoleError {
  return invalidArgument(
    `Client.recreateTaskLocally: '${name}' cannot run in this process: ${why}. Pass a future of a function of JavaScript.`,
  );
}

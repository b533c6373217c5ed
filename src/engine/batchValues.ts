// The values that travel with a batch.
import { messageOf, TaskError } from '../base/errors.js';
import type { Plan } from '../graph/compile.js';
import { NO_VALUES, type Values } from '../protocol/isolateMessages.js';
import { OP_CONSTANT, OP_OBJECT } from '../protocol/program.js';
import { isScalar, kindOf } from '../protocol/resultKinds.js';
import { taskFunctionName } from './runView.js';

/** A batch could not be sent: the error that says which task has an argument that cannot be copied, and why. */
export function argumentError(plan: Plan, ids: Int32Array, cause: unknown): unknown {
  for (const id of ids) {
    const { values } = batchConstants(plan, Int32Array.of(id));
    for (const value of values) {
      const reason = cloneError(value);
      if (reason === undefined) continue;
      const where = { key: plan.keys[id]!, function: taskFunctionName(plan, id), worker: 'main' };
      const why = messageOf(reason);
      const message =
        `An argument of task '${where.key}' (function ${where.function}) cannot be copied to a worker: ${why} ` +
        'Pass plain data, or make the value inside the task.';
      return new TaskError(where, message, { cause: reason, code: 'ERR_LONGPOLE_NOT_CLONEABLE' });
    }
  }
  return cause;
}

/** Results of other workers that the batch needs. */
export function batchInputs(results: readonly unknown[], ids: Int32Array): Values {
  return ids.length === 0 ? NO_VALUES : { ids, values: Array.from(ids, (id) => results[id]) };
}

/** The constants that the tasks of a batch name. */
export function batchConstants(
  { constants, program }: Pick<Plan, 'constants' | 'program'>,
  ids: Int32Array,
): Values {
  if (constants.length === 0) return NO_VALUES;
  const { tokenOffsets, operations, operands } = program;
  const indices: number[] = [];
  const values: unknown[] = [];
  for (const id of ids) {
    const end = tokenOffsets[id + 1]!;
    for (let at = tokenOffsets[id]!; at < end; at++) {
      if (operations[at] !== OP_CONSTANT && operations[at] !== OP_OBJECT) continue;
      indices.push(operands[at]!);
      values.push(constants[operands[at]!]);
    }
  }
  return indices.length === 0 ? NO_VALUES : { ids: Int32Array.from(indices), values };
}

/** Why a value cannot be sent as it is; undefined: it can. Used to find the culprit when a message could not be sent. */
function cloneError(value: unknown): unknown {
  if (isScalar(kindOf(value))) return undefined;
  try {
    structuredClone(value);
    return undefined;
  } catch (error) {
    return error;
  }
}

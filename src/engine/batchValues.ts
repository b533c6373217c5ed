// The values that travel with a batch, and its priority.
import { cloneText, TaskError } from '../base/errors.js';
import type { Plan } from '../graph/compile.js';
import { NO_VALUES, type Values } from '../protocol/isolateMessages.js';
import { OP_CONSTANT, OP_OBJECT } from '../protocol/program.js';
import { isScalar, kindOf } from '../protocol/resultKinds.js';
import { packNumbers } from '../protocol/shortMessages.js';
import { taskFunctionName } from './runView.js';

/** Returns the error for a batch that could not be sent. It names the task with the argument that cannot be copied. */
export function argumentError(plan: Plan, ids: Int32Array, cause: unknown): unknown {
  for (const id of ids) {
    const { values } = batchConstants(plan, Int32Array.of(id));
    for (const value of values) {
      const reason = cloneError(value);
      if (reason === undefined) continue;
      const where = { key: plan.keys[id]!, function: taskFunctionName(plan, id), worker: 'main' };
      const why = cloneText(reason, 'Pass plain data, or create the value inside the task.');
      const message = `An argument of task '${where.key}' (function ${where.function}) cannot be copied to a worker: ${why}`;
      return new TaskError(where, message, { cause: reason, code: 'ERR_LONGPOLE_NOT_CLONEABLE' });
    }
  }
  return cause;
}

/** Returns the priority of the batch: that of its most urgent task, which may need the others. */
export function batchPriority({ priority = 0, priorities }: Plan, ids: Int32Array): number {
  if (priorities === undefined) return priority;
  return ids.reduce((most, id) => Math.max(most, priorities[id]!), Number.NEGATIVE_INFINITY);
}

/** Returns the constants that the tasks of a batch use. */
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
  return indices.length === 0 ? NO_VALUES : { ids: packNumbers(indices), values };
}

/** Returns why a value cannot be cloned; undefined if it can. */
function cloneError(value: unknown): unknown {
  if (isScalar(kindOf(value))) return undefined;
  try {
    structuredClone(value);
    return undefined;
  } catch (error) {
    return error;
  }
}

// The values that travel with a batch.
import type { Plan } from '../graph/compile.js';
import { NO_VALUES, type Values } from '../protocol/isolateMessages.js';
import { OP_CONSTANT, OP_OBJECT } from '../protocol/program.js';

/** Results of other workers that the batch needs. */
export function batchInputs(results: readonly unknown[], ids: Int32Array): Values {
  return ids.length === 0 ? NO_VALUES : { ids, values: Array.from(ids, (id) => results[id]) };
}

/** The constants that the tasks of a batch name. */
export function batchConstants(plan: Plan, ids: Int32Array): Values {
  const { constants, program } = plan;
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

// Short forms of messages about one task. V8 allocates a buffer on both sides for every typed array in a message, so a
// few numbers cost less as they are.
import { type Batch, type BatchMessage, NO_IDS, NO_VALUES, type Numbers } from './isolateMessages.js';
import type { TaskKinds } from './metrics.js';
import type { Program, SingleTask } from './program.js';

/** Count of numbers from which a column costs less. */
export const MANY = 16;

export function packNumbers(list: readonly number[]): Numbers {
  return list.length < MANY ? list : Int32Array.from(list);
}

export function packProgram(program: Program): Program | SingleTask {
  if (program.size !== 1 || program.dependencies.length > 0) return program;
  return { operations: [...program.operations], operands: [...program.operands] };
}

const NO_EDGES = new Int32Array(2);
const NO_DEPENDENTS = new Int32Array(1);

export function unpackProgram(packed: Program | SingleTask): Program {
  if ('size' in packed) return packed;
  const { operations, operands } = packed;
  return {
    size: 1,
    tokenOffsets: Int32Array.of(0, operations.length),
    operations: Uint8Array.from(operations),
    operands: Float64Array.from(operands),
    dependencyOffsets: NO_EDGES,
    dependencies: NO_IDS,
    dependentCounts: NO_DEPENDENTS,
  };
}

/** Returns the kinds for a message. Those of one task have a number in place of a column. */
export function packKinds({ kindOf, kinds }: TaskKinds): TaskKinds {
  return { kindOf: kindOf.length === 1 ? [kindOf[0]!] : kindOf, kinds };
}

export function columnOf(numbers: Numbers): Int32Array {
  return numbers instanceof Int32Array ? numbers : Int32Array.from(numbers);
}

export function packBatch(batch: Batch): BatchMessage {
  const { type, run, batch: number, ids, inputs, constants } = batch;
  const message: { -readonly [K in keyof BatchMessage]: BatchMessage[K] } = {
    type,
    run,
    batch: number,
    ids: ids.length === 1 ? [ids[0]!] : ids,
  };
  if (inputs.ids.length > 0) message.inputs = inputs;
  if (constants.ids.length > 0) message.constants = constants;
  if (batch.priority !== undefined) message.priority = batch.priority;
  if (batch.packed !== undefined) message.packed = batch.packed;
  if (batch.lacking !== undefined) message.lacking = batch.lacking;
  if (batch.uncloneable !== undefined) message.uncloneable = batch.uncloneable;
  if (batch.uncloneableInputs !== undefined) message.uncloneableInputs = batch.uncloneableInputs;
  return message;
}

const NO_FLAGS = new Uint8Array(0);

export function unpackBatch(message: BatchMessage): Batch {
  const { type, run, batch, ids, priority, packed, lacking, uncloneable, uncloneableInputs } = message;
  const { inputs = NO_VALUES, constants = NO_VALUES } = message;
  return {
    type,
    run,
    batch,
    ids: columnOf(ids),
    publish: NO_FLAGS,
    keep: NO_IDS,
    gather: [],
    inputs,
    constants,
    priority,
    packed,
    lacking,
    uncloneable,
    uncloneableInputs,
  };
}

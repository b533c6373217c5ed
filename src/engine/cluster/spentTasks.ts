// Drops the arguments of tasks that can never run again, because their results and all results computed from them are
// forgotten. One wanted result keeps its whole computation alive, e.g. one of a thousand files. Only its lineage is
// needed.
import { OP_CONSTANT, OP_OBJECT } from '../../protocol/program.js';
import type { SchedulerState } from '../scheduler/schedulerState.js';
import { FORGOTTEN } from '../scheduler/taskStates.js';
import type { ComputationState } from './computationState.js';

/**
 * Drops the arguments of tasks that were just forgotten and of dependencies that only they needed, unless a remaining
 * lineage needs them. Cost: one visit per dependent of a task.
 */
export function dropSpentArguments(
  computation: ComputationState,
  locals: Int32Array,
  { graph, state }: SchedulerState,
): void {
  const { constants, program, segment } = computation;
  if (constants.length === 0 || segment.dead) return;
  const { tokenOffsets, operations, operands, dependencyOffsets, dependencies } = program;
  computation.spent ??= new Uint8Array(program.size);
  const { spent } = computation;
  const isNeeded = (id: number): boolean => {
    if (state[id] !== FORGOTTEN || graph.importersOf(id).length > 0) return true;
    for (let edge = graph.dependentOffsets[id]!; edge < graph.dependentOffsets[id + 1]!; edge++)
      if (spent[graph.dependents[edge]! - segment.base] === 0) return true;
    return false;
  };
  const stack = [...locals];
  for (let local = stack.pop(); local !== undefined; local = stack.pop()) {
    if (spent[local] === 1 || isNeeded(segment.base + local)) continue;
    spent[local] = 1;
    for (let at = tokenOffsets[local]!; at < tokenOffsets[local + 1]!; at++)
      if (operations[at] === OP_CONSTANT || operations[at] === OP_OBJECT)
        constants[operands[at]!] = undefined;
    for (let edge = dependencyOffsets[local]!; edge < dependencyOffsets[local + 1]!; edge++)
      stack.push(dependencies[edge]!);
  }
}

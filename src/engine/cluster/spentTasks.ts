// Arguments of tasks that can never run again: their results are forgotten, and so are those of all that was computed from
// them. As long as one result of a computation is wanted the computation stays, and with it what that result is made of. The
// arguments of the other tasks would stay too, e.g. those of a thousand files of which one result is kept.
import { OP_CONSTANT, OP_OBJECT } from '../../protocol/program.js';
import type { SchedulerState } from '../scheduler/schedulerState.js';
import { FORGOTTEN } from '../scheduler/taskStates.js';
import type { ComputationState } from './computationState.js';

/**
 * Drops the arguments of these tasks, which were just forgotten, and of what only they needed, as far as no lineage leads back to
 * them. Cost: a look at one dependent of a task that is still needed.
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

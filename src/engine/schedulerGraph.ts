import type { Plan } from '../graph/compile.js';
import type { SchedulerGraph } from './scheduler/taskGraph.js';

/**
 * Returns the part of a plan that the scheduler needs.
 *
 * @param functionOf task id → number of its function, whose tasks take about the same time
 */
export function schedulerGraph(
  plan: Plan,
  functionOf = plan.functionOf,
  functionCount = plan.functions.length,
): SchedulerGraph {
  return {
    size: plan.program.size,
    dependencyOffsets: plan.dependencies.offsets,
    dependencies: plan.dependencies.targets,
    dependentOffsets: plan.dependents.offsets,
    dependents: plan.dependents.targets,
    requested: plan.requested,
    functionOf,
    functionCount,
    priorities: plan.priorities,
  };
}

import type { Plan } from '../graph/compile.js';
import type { SchedulerGraph } from './scheduler/taskGraph.js';

/** Returns the part of a plan that the scheduler needs. */
export function schedulerGraph(plan: Plan): SchedulerGraph {
  return {
    size: plan.program.size,
    dependencyOffsets: plan.dependencies.offsets,
    dependencies: plan.dependencies.targets,
    dependentOffsets: plan.dependents.offsets,
    dependents: plan.dependents.targets,
    requested: plan.requested,
    functionOf: plan.functionOf,
    functionCount: plan.functions.length,
    priorities: plan.priorities,
  };
}

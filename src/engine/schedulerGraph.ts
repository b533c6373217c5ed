import type { Plan } from '../graph/compile.js';
import type { SchedulerGraph } from './scheduler/taskGraph.js';

/** The part of a plan that the scheduler looks at. */
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
  };
}

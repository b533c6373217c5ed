// `longpole`: define work and run it.

export type { ErrorCode } from '../base/errors.js';
export { KilledWorkerError, LongpoleError, TaskError } from '../base/errors.js';
export type { AbortSignalLike, ComputeOptions, SchedulerName } from '../graph/computeOptions.js';
export { Delayed } from '../graph/delayed.js';
export type { Input } from '../graph/input.js';
export { key, keySplit } from '../graph/key.js';
export { literal } from '../graph/literal.js';
export type { TaskFunction, TaskOptions } from '../graph/taskFunction.js';
export { delayed } from '../graph/taskFunction.js';
export { tasks } from '../graph/tasks.js';
export type { Graph, Keys } from '../protocol/graph.js';
export type { Computed } from './compute.js';
export { compute } from './compute.js';

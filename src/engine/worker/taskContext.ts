// An isolate's data about itself. Every isolate imports the user's script, which may compute at its top level, and must
// not start that computation again. So an isolate computes only for a running task, and api/ checks that here.
import { AsyncLocalStorage } from 'node:async_hooks';
import { sharedByCopies } from '../../base/sharedByCopies.js';
import type { GraphSize } from '../../protocol/isolateMessages.js';

export interface TaskContext {
  /** Name of this isolate's worker; undefined on the caller's own thread. */
  worker: string | undefined;
  /** Number of tasks, also of those that await, and of calls of the host. */
  running: number;
  /** Called when code of a task begins to run a graph on workers of its own. Returns a function that is called at the end of this run. */
  graphBegins?: ((graph: GraphSize) => () => void) | undefined;
}

export const taskContext = sharedByCopies<TaskContext>('longpole.taskContext', () => ({
  worker: undefined,
  running: 0,
}));

const moduleCode = sharedByCopies('longpole.moduleCode', () => new AsyncLocalStorage<boolean>());

/**
 * Calls `work`, which imports a module of the user. Code at the top level of the module, also after an `await` that ends while a
 * task runs, belongs to no task.
 */
export function asModuleCode<R>(work: () => R): R {
  return moduleCode.run(true, work);
}

/** Returns whether the running code was started by the top level of a module. */
export function isModuleCode(): boolean {
  return moduleCode.getStore() === true;
}

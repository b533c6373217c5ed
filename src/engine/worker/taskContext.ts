// An isolate's data about itself. Every isolate imports the user's script, which may compute at its top level, and must
// not start that computation again. So an isolate computes only for a running task, and api/ checks that here.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { GraphSize } from '../../protocol/isolateMessages.js';

const CONTEXT: unique symbol = Symbol.for('longpole.taskContext');

export interface TaskContext {
  /** Name of this isolate's worker; undefined on the caller's own thread. */
  worker: string | undefined;
  /** True while a task runs. */
  running: boolean;
  /** Called when code of a task begins to run a graph on workers of its own. Returns a function that is called at the end of this run. */
  graphBegins?: ((graph: GraphSize) => () => void) | undefined;
}

function context(): TaskContext {
  const holder: typeof globalThis & { [CONTEXT]?: TaskContext } = globalThis;
  holder[CONTEXT] ??= { worker: undefined, running: false };
  return holder[CONTEXT];
}

/** A property of the global object, because the user's module may load another copy of the package. */
export const taskContext: TaskContext = context();

const MODULE_CODE: unique symbol = Symbol.for('longpole.moduleCode');

function moduleStorage(): AsyncLocalStorage<boolean> {
  const holder: typeof globalThis & { [MODULE_CODE]?: AsyncLocalStorage<boolean> } = globalThis;
  holder[MODULE_CODE] ??= new AsyncLocalStorage();
  return holder[MODULE_CODE];
}

/**
 * Calls `work`, which imports a module of the user. Code at the top level of the module, also after an `await` that ends while a
 * task runs, belongs to no task.
 */
export function asModuleCode<R>(work: () => R): R {
  return moduleStorage().run(true, work);
}

/** Returns whether the running code was started by the top level of a module. */
export function isModuleCode(): boolean {
  return moduleStorage().getStore() === true;
}

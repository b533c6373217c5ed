// What an isolate knows about itself. A user's script that defines tasks and computes at its top level is imported by
// every isolate to find the tasks; the computation in it must not start again there. So an isolate computes only what a
// running task asks for, and api/ looks here.

const CONTEXT: unique symbol = Symbol.for('longpole.taskContext');

export interface TaskContext {
  /** Name of the worker that this isolate is; undefined on the caller's own thread. */
  worker: string | undefined;
  /** A task runs at this moment. */
  running: boolean;
}

function context(): TaskContext {
  const holder: typeof globalThis & { [CONTEXT]?: TaskContext } = globalThis;
  holder[CONTEXT] ??= { worker: undefined, running: false };
  return holder[CONTEXT];
}

/** On the global object, because the user's module may load another copy of the package. */
export const taskContext: TaskContext = context();

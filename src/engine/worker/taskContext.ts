// An isolate's data about itself. Every isolate imports the user's script, which may compute at its top level, and must
// not start that computation again. So an isolate computes only for a running task, and api/ checks that here.

const CONTEXT: unique symbol = Symbol.for('longpole.taskContext');

export interface TaskContext {
  /** Name of this isolate's worker; undefined on the caller's own thread. */
  worker: string | undefined;
  /** True while a task runs. */
  running: boolean;
}

function context(): TaskContext {
  const holder: typeof globalThis & { [CONTEXT]?: TaskContext } = globalThis;
  holder[CONTEXT] ??= { worker: undefined, running: false };
  return holder[CONTEXT];
}

/** A property of the global object, because the user's module may load another copy of the package. */
export const taskContext: TaskContext = context();

// What surrounds every task of an isolate, beside its own code. Without a hook a task costs one look at a variable.

export interface TaskHook {
  /** Right before the task's function is called; `label` is its key, or its function's name where no key is known. */
  before(label: string): void;
  /** When it has returned or thrown (`failed`); of an asynchronous task, when its promise has settled. */
  after(failed: boolean): void;
}

/** The hook of this isolate; undefined: none. */
export const taskHook: { current: TaskHook | undefined } = { current: undefined };

let hooks: TaskHook[] = [];

/** Adds a hook inside those that are there; returns what takes it away again. */
export function addTaskHook(hook: TaskHook): () => void {
  hooks = [...hooks, hook];
  join();
  return () => {
    hooks = hooks.filter((one) => one !== hook);
    join();
  };
}

function join(): void {
  const all = hooks;
  const [only] = all;
  if (all.length < 2) {
    taskHook.current = only;
    return;
  }
  taskHook.current = {
    before: (label) => {
      for (const hook of all) hook.before(label);
    },
    after: (failed) => {
      for (let index = all.length - 1; index >= 0; index--) all[index]!.after(failed);
    },
  };
}

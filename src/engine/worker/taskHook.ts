// Hooks around every task of an isolate. Without a hook a task costs one read of a variable.

export interface TaskHook {
  /** Called before the task's function; `label` is its key, or its function's name if no key is known. */
  before(label: string): void;
  /** Called when the function has returned or thrown (`failed`); for an asynchronous task, when its promise has settled. */
  after(failed: boolean): void;
  /** Called instead of `after` when the task leaves its slot. Other tasks run until its end. */
  seceded?(): void;
  /** Called when the promise of a seceded task has settled. */
  secededEnded?(label: string, failed: boolean): void;
}

/** The hook of this isolate; undefined for none. */
export const taskHook: { current: TaskHook | undefined } = { current: undefined };

let hooks: TaskHook[] = [];

/** Adds a hook inside the present ones; returns the function that removes it. */
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
  const innermostFirst = all.toReversed();
  const joined: TaskHook = {
    before: (label) => {
      for (const hook of all) hook.before(label);
    },
    after: (failed) => {
      for (const hook of innermostFirst) hook.after(failed);
    },
    seceded: () => {
      for (const hook of innermostFirst) hook.seceded?.();
    },
    secededEnded: (label, failed) => {
      for (const hook of all) hook.secededEnded?.(label, failed);
    },
  };
  taskHook.current = all.length === 0 ? undefined : joined;
}

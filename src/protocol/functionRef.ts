// References to functions in messages, by which another isolate finds or rebuilds them.
import type { ErrorCode } from '../base/errors.js';

/**
 * A function of a module made with `tasks(import.meta.url, …)`: the other isolate imports `url` and finds the
 * function by `name`.
 */
export interface ModuleFunctionRef {
  readonly type: 'module';
  readonly url: string;
  readonly name: string;
  /** File with the bundled module, in the folder of a worker on another machine. */
  readonly bundle?: string;
}

/** URL of Longpole's own tasks, which every isolate finds beside its code. */
export const OWN_TASKS = 'longpole:tasks';

/** A function that is unavailable on the worker: its tasks fail with this error. */
export interface UnavailableFunctionRef {
  readonly type: 'unavailable';
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export type FunctionRef =
  | ModuleFunctionRef
  /** A function without free variables, sent as `expression`: source text that evaluates to the function. */
  | { readonly type: 'source'; readonly expression: string; readonly name: string }
  /** A function that every isolate has, by its path from the global object, e.g. `Math.max`. */
  | { readonly type: 'global'; readonly path: string; readonly name: string }
  /** A function of a Python module, which a Dask worker runs. */
  | {
      readonly type: 'python';
      /** `package.module:function`. */
      readonly target: string;
      readonly name: string;
    }
  | UnavailableFunctionRef;

// What an inspector asks an isolate for when its cluster is dumped. V8 runs the request between two instructions, so a task
// that computes shows its own stack.

/** Name of the registered symbol under which the hook hangs on the global object. */
const DUMP = 'longpole.dump';
/** Evaluates to a JSON text, see IsolateStanding and its stack. */
export const DUMP_EXPRESSION = `globalThis[Symbol.for('${DUMP}')]?.()`;

const MAX_STACK_FRAMES = 50;

/** Where the program of an isolate stands. */
export interface IsolateStanding {
  /** It works on batches, or waits for functions to load or for an asynchronous task. */
  readonly busy: boolean;
  readonly inTask: boolean;
  readonly current: unknown;
  /** Batches that it has not begun. */
  readonly queue: readonly unknown[];
  /** Runs that it knows, and whether their functions have been loaded. */
  readonly runs: readonly { readonly run: number; readonly loaded: boolean }[];
}

/** Its standing, and the frames of its stack, innermost first. */
export interface IsolateAnswer extends IsolateStanding {
  readonly stack: readonly string[];
}

export function setDumpHook(standing: () => IsolateStanding): void {
  const dump = (): string => {
    const answer: IsolateAnswer = { ...standing(), stack: stackBelow(dump) };
    return JSON.stringify(answer);
  };
  Object.defineProperty(globalThis, Symbol.for(DUMP), { value: dump, configurable: true });
}

/** The stack frames below a function that an inspector has called. */
function stackBelow(fn: () => string): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MAX_STACK_FRAMES;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, fn);
  Error.stackTraceLimit = stackTraceLimit;
  return (holder.stack ?? '')
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => !/^at <anonymous>:1:\d+$/.test(line));
}

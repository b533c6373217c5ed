// The requests of an inspector to an isolate: to read its messages, and for the dump of a cluster. V8 runs a request
// between two instructions, so a computing task shows its own stack.
import type { Batch } from '../../protocol/isolateMessages.js';

// Names of registered symbols for the hooks, properties of the global object.
const INTERRUPT = 'longpole.interrupt';
const DUMP = 'longpole.dump';
export const INTERRUPT_EXPRESSION = `globalThis[Symbol.for('${INTERRUPT}')]?.()`;
/** Expression whose value is a JSON text, see IsolateStanding and its stack. */
export const DUMP_EXPRESSION = `globalThis[Symbol.for('${DUMP}')]?.()`;

const MAX_STACK_FRAMES = 50;

/** State of an isolate's program. */
export interface IsolateStanding {
  /** True while it works on batches, loads functions, or waits for an asynchronous task. */
  readonly busy: boolean;
  readonly inTask: boolean;
  readonly current: unknown;
  /** Batches that it has not started. */
  readonly queue: readonly unknown[];
  /** Known runs, and whether their functions have been loaded. */
  readonly runs: readonly { readonly run: number; readonly loaded: boolean }[];
}

/** The state, and the stack frames, innermost first. */
export interface IsolateAnswer extends IsolateStanding {
  readonly stack: readonly string[];
}

/** Returns a batch without its values. */
export function briefBatch({ run, batch, ids }: Batch): object {
  return { run, batch, tasks: ids.length };
}

/** Sets the functions that an inspector calls. */
export function setInspectorHooks(interrupt: () => void, standing: () => IsolateStanding): void {
  const dump = (): string => {
    const answer: IsolateAnswer = { ...standing(), stack: stackBelow(dump) };
    return JSON.stringify(answer);
  };
  Object.defineProperty(globalThis, Symbol.for(INTERRUPT), { value: interrupt, configurable: true });
  Object.defineProperty(globalThis, Symbol.for(DUMP), { value: dump, configurable: true });
}

/** Returns the stack frames below a function that an inspector has called. */
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

// `span`: names a part of the user's program, so that what is defined or submitted in it is found together.
import { AsyncLocalStorage } from 'node:async_hooks';
import { invalidArgument } from '../base/errors.js';
import { type SpanRef, setSpanSource } from '../graph/spanContext.js';
import { spanId } from '../protocol/metrics.js';
import { callingLine } from './callingLine.js';

/** A span that is not open yet: `using` opens it where it is declared, and closes it when the block ends. */
export interface Span {
  readonly name: string;
  /** The names of the spans around it and its own, e.g. `["Alice", "load"]`; known once it is open. */
  readonly tags: readonly string[];
  /** The tags as one text, as in the keys of metrics. */
  readonly id: string;
  /** Reading it opens the span, calling what it gives closes it. */
  readonly [Symbol.dispose]: () => void;
}

const STORAGE: unique symbol = Symbol.for('longpole.span');

function storage(): AsyncLocalStorage<SpanRef | undefined> {
  const holder: typeof globalThis & { [STORAGE]?: AsyncLocalStorage<SpanRef | undefined> } = globalThis;
  holder[STORAGE] ??= new AsyncLocalStorage();
  return holder[STORAGE];
}

/** On the global object, because a program may hold two copies of the package. */
const open = storage();

class OpenableSpan implements Span {
  readonly name: string;
  readonly #code: string;
  #ref: SpanRef | undefined;

  constructor(name: string, code: string) {
    this.name = name;
    this.#code = code;
  }

  get tags(): readonly string[] {
    return this.#ref?.tags ?? this.enter(open.getStore()).tags;
  }

  get id(): string {
    return spanId(this.tags);
  }

  get [Symbol.dispose](): () => void {
    const before = open.getStore();
    const ref = this.enter(before);
    open.enterWith(ref);
    return () => {
      // After an await the context is that of the block still; elsewhere it is somebody else's.
      if (open.getStore() === ref) open.enterWith(before);
    };
  }

  /** This span inside another. */
  enter(outer: SpanRef | undefined): SpanRef {
    this.#ref = {
      tags: [...(outer?.tags ?? []), this.name],
      code: [...(outer?.code ?? []), this.#code].filter((line) => line !== ''),
    };
    return this.#ref;
  }
}

/**
 * Names what is defined or submitted in a block, `using s = span('load')`, or in a function, `span('load', () => …)`, also
 * after an `await` in it. Spans nest: inside `span('Alice')`, `span('load')` has the tags `["Alice", "load"]`. Tasks outside
 * any span have `["default"]`. A span with a name that was used before in the same place continues it.
 *
 * The form with a function is for code that goes on while the function waits: a block of an async function stays open
 * for its caller until that awaits something itself.
 *
 * @returns a Span to be held with `using`, or what the function returns
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the name is not a non-empty string, or `fn` not a function
 * @source Dask's `distributed.span`
 */
export function span(name: string): Span;
export function span<T>(name: string, fn: () => T): T;
export function span(name: string, fn?: () => unknown): unknown {
  if (typeof name !== 'string' || name === '')
    throw invalidArgument(
      `The name of a span is a non-empty string, not ${JSON.stringify(name) ?? String(name)}.`,
    );
  setSpanSource(() => open.getStore());
  const made = new OpenableSpan(name, callingLine(span));
  if (fn === undefined) return made;
  if (typeof fn !== 'function')
    throw invalidArgument(`span('${name}', fn) takes a function, not ${fn === null ? 'null' : typeof fn}.`);
  return open.run(made.enter(open.getStore()), fn);
}

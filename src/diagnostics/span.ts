// `span`: names a part of a program, and the tasks that are defined or submitted there.
import { AsyncLocalStorage } from 'node:async_hooks';
import { invalidArgument } from '../base/errors.js';
import { sharedByCopies } from '../base/sharedByCopies.js';
import { definedSpans, type SpanRef } from '../graph/definedWith.js';
import { spanId } from '../protocol/metrics.js';
import { callingLine } from './callingLine.js';

/** A span. `using` opens it at the declaration, and closes it at the end of the block. */
export interface Span {
  readonly name: string;
  /** Names of the enclosing spans and of this one, e.g. `["Alice", "load"]`. */
  readonly tags: readonly string[];
  /** The tags as one text, as in the keys of metrics. */
  readonly id: string;
  /** Opens the span when read, and returns a function that closes it. */
  readonly [Symbol.dispose]: () => void;
}

const open = sharedByCopies('longpole.span', () => new AsyncLocalStorage<SpanRef | undefined>());

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
      // A different context is not that of the block and must not change.
      if (open.getStore() === ref) open.enterWith(before);
    };
  }

  /** Opens this span inside another one. */
  enter(outer: SpanRef | undefined): SpanRef {
    this.#ref = {
      tags: [...(outer?.tags ?? []), this.name],
      code: [...(outer?.code ?? []), this.#code].filter((line) => line !== ''),
    };
    return this.#ref;
  }
}

/**
 * Names the tasks that are defined or submitted in a block, `using s = span('load')`, or in a function,
 * `span('load', () => …)`, also after an `await`. Spans nest: inside `span('Alice')`, `span('load')` has the tags
 * `["Alice", "load"]`. Tasks outside any span have the tags `["default"]`. Spans with equal tags are one span.
 *
 * Prefer the form with a function for an async function that its caller does not await at once. There a block would
 * also name the tasks that the caller defines before its next `await`.
 *
 * @returns a Span for `using`; with a function, its return value
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
  definedSpans.source = () => open.getStore();
  const made = new OpenableSpan(name, callingLine(span));
  if (fn === undefined) return made;
  if (typeof fn !== 'function')
    throw invalidArgument(`span('${name}', fn) takes a function, not ${fn === null ? 'null' : typeof fn}.`);
  return open.run(made.enter(open.getStore()), fn);
}

// What is open where a task is defined: its span, and its annotations. This folder does not know how blocks are opened (see
// diagnostics/span.ts, api/annotate.ts): it calls a function that is set once the program has opened a block. Until then a
// new task costs a comparison.
import type { ClusterTaskOptions } from '../protocol/clientQuestions.js';

export interface SpanRef {
  /** Names of the open spans, e.g. `["Alice", "load"]`. */
  readonly tags: readonly string[];
  /** Calling lines that opened the spans, the outermost first, e.g. `main.ts:12  using s = span('load');`. */
  readonly code: readonly string[];
}

export type Annotations = Omit<ClusterTaskOptions, 'timeout'>;

class DefinedWith<T> {
  /** Returns what is open now. Undefined until the program has opened the first block. */
  source: (() => T | undefined) | undefined;
  readonly #defined = new WeakMap<object, T>();

  /** What is open now, if anything. */
  get current(): T | undefined {
    return this.source?.();
  }

  /** Records what is open for a new task. */
  remember(task: object): void {
    const current = this.source?.();
    if (current !== undefined) this.#defined.set(task, current);
  }

  /** Records for `copy` what is recorded for the task. */
  copy(task: object, copy: object): void {
    const known = this.source === undefined ? undefined : this.#defined.get(task);
    if (known !== undefined) this.#defined.set(copy, known);
  }

  /** Returns what was open where the task was defined, if anything. */
  of(task: object): T | undefined {
    return this.#defined.get(task);
  }
}

/** Without an open span, a task gets `["default"]`. */
export const definedSpans = new DefinedWith<SpanRef>();
/** Options of the open block of annotations. */
export const definedAnnotations = new DefinedWith<Annotations>();

// Finds the span in which a task is defined. This folder does not know how spans are opened (see
// diagnostics/span.ts): it calls a function that is set once the program has opened a span. Until then a new task
// costs one comparison.

export interface SpanRef {
  /** Names of the open spans, e.g. `["Alice", "load"]`. */
  readonly tags: readonly string[];
  /** Calling lines that opened the spans, the outermost first, e.g. `main.ts:12  using s = span('load');`. */
  readonly code: readonly string[];
}

let source: (() => SpanRef | undefined) | undefined;
const defined = new WeakMap<object, SpanRef>();

/** Sets the source of spans. A later call replaces the source. */
export function setSpanSource(current: () => SpanRef | undefined): void {
  source = current;
}

/** Returns the open span; undefined if there is none, and the task gets `["default"]`. */
export function currentSpan(): SpanRef | undefined {
  return source?.();
}

/** Returns whether any span was ever opened. If not, callers need not ask for spans. */
export function spansInUse(): boolean {
  return source !== undefined;
}

/** Records the open span for a new task. */
export function rememberSpan(task: object): void {
  if (source === undefined) return;
  const span = source();
  if (span !== undefined) defined.set(task, span);
}

/** Returns the span in which a task was defined, if any. */
export function spanOf(task: object): SpanRef | undefined {
  return defined.get(task);
}

// In which span a task was defined. This folder does not know how a span is held open (see diagnostics/span.ts): it asks
// a function that is there once the program has opened a span. Until then a new task pays one comparison.

export interface SpanRef {
  /** E.g. `["Alice", "load"]`. */
  readonly tags: readonly string[];
  /** The calling lines that opened the spans, the outermost first, e.g. `main.ts:12  using s = span('load');`. */
  readonly code: readonly string[];
}

let source: (() => SpanRef | undefined) | undefined;
const defined = new WeakMap<object, SpanRef>();

/** The last source set counts. */
export function setSpanSource(current: () => SpanRef | undefined): void {
  source = current;
}

/** The span that is open here; undefined: none, and tasks get `["default"]`. */
export function currentSpan(): SpanRef | undefined {
  return source?.();
}

/** Whether any span was ever opened: if not, nobody has to ask for them. */
export function spansInUse(): boolean {
  return source !== undefined;
}

/** Remembers for a new task the span that is open here. */
export function rememberSpan(task: object): void {
  if (source === undefined) return;
  const span = source();
  if (span !== undefined) defined.set(task, span);
}

/** The span in which a task was defined, if it was in one. */
export function spanOf(task: object): SpanRef | undefined {
  return defined.get(task);
}

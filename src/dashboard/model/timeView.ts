// The window of time that all plots of the page share, in seconds since the first event. Each operation returns a new
// window inside the limits.

export interface TimeWindow {
  readonly start: number;
  readonly stop: number;
}

/** Shortest window in seconds. Epoch seconds in doubles resolve 0.24 µs. */
const SHORTEST = 1e-6;

export function spanOf(window: TimeWindow): number {
  return window.stop - window.start;
}

/** Share of the limits that a window may miss and still count as complete, because of rounding. */
const TOLERANCE = 1e-6;

export function showsAll(limits: TimeWindow, window: TimeWindow): boolean {
  return spanOf(window) >= spanOf(limits) * (1 - TOLERANCE);
}

export function showsStart(limits: TimeWindow, window: TimeWindow): boolean {
  return window.start <= limits.start + spanOf(limits) * TOLERANCE;
}

export function showsEnd(limits: TimeWindow, window: TimeWindow): boolean {
  return window.stop >= limits.stop - spanOf(limits) * TOLERANCE;
}

/** Returns the window, shifted and shortened as little as needed to lie within the limits. */
export function within(limits: TimeWindow, window: TimeWindow): TimeWindow {
  const span = Math.min(spanOf(limits), Math.max(SHORTEST, spanOf(window)));
  // The sum of start and span may differ from the stop.
  if (span >= spanOf(limits) * (1 - TOLERANCE)) return { ...limits };
  const centre = (window.start + window.stop) / 2;
  const wanted = spanOf(window) < SHORTEST ? centre - span / 2 : window.start;
  const start = Math.min(Math.max(wanted, limits.start), limits.stop - span);
  return { start, stop: start + span };
}

/** Returns the part of a range within the limits, or the nearest window for a range beyond them. */
export function clip(limits: TimeWindow, range: TimeWindow): TimeWindow {
  const part = { start: Math.max(range.start, limits.start), stop: Math.min(range.stop, limits.stop) };
  return within(limits, part.stop > part.start ? part : range);
}

/** Zooms; `factor` < 1 zooms in. The time `anchor` keeps its place on the screen, unless the limits prevent it. */
export function zoom(limits: TimeWindow, window: TimeWindow, factor: number, anchor: number): TimeWindow {
  const share = (anchor - window.start) / spanOf(window);
  const span = Math.min(spanOf(limits), Math.max(SHORTEST, spanOf(window) * factor));
  const start = anchor - span * share;
  return within(limits, { start, stop: start + span });
}

/** Moves the window, to later times for positive `seconds`. */
export function pan(limits: TimeWindow, window: TimeWindow, seconds: number): TimeWindow {
  return within(limits, { start: window.start + seconds, stop: window.stop + seconds });
}

/** Returns the window if it clearly shows [start, stop], else a window of at most the same width around the range. */
export function reveal(limits: TimeWindow, window: TimeWindow, start: number, stop: number): TimeWindow {
  const span = spanOf(window);
  if (start >= window.start && stop <= window.stop && stop - start > span / 500) return window;
  const wanted = Math.min(span, Math.max((stop - start) * 8, span / 1e6));
  const centre = (start + stop) / 2;
  return within(limits, { start: centre - wanted / 2, stop: centre + wanted / 2 });
}

/** Moves the start to a multiple of one pixel's time, so that narrow runs do not flicker during panning. */
export function snapToPixels(window: TimeWindow, width: number): TimeWindow {
  const perPixel = spanOf(window) / width;
  const start = Math.round(window.start / perPixel) * perPixel;
  return { start, stop: start + spanOf(window) };
}

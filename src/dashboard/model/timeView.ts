// The window of time that all plots of the page share, in seconds since the first event. Pure: each operation returns
// a new window, kept inside the limits.

export interface TimeWindow {
  readonly start: number;
  readonly stop: number;
}

/** No window is shorter: epoch seconds in doubles resolve 0.24 µs. */
const SHORTEST = 1e-6;

export function spanOf(window: TimeWindow): number {
  return window.stop - window.start;
}

/** What of its limits a window may lack and still show all of them: it comes of sums, and may still move there. */
const LACK = 1e-6;

/** Whether a window within its limits leaves nothing out. */
export function showsAll(limits: TimeWindow, window: TimeWindow): boolean {
  return spanOf(window) >= spanOf(limits) * (1 - LACK);
}

/** Whether a window within its limits shows their start. */
export function showsStart(limits: TimeWindow, window: TimeWindow): boolean {
  return window.start <= limits.start + spanOf(limits) * LACK;
}

/** Whether a window within its limits shows their end. */
export function showsEnd(limits: TimeWindow, window: TimeWindow): boolean {
  return window.stop >= limits.stop - spanOf(limits) * LACK;
}

/** The window shifted and shortened as little as needed to lie within the limits. */
export function within(limits: TimeWindow, window: TimeWindow): TimeWindow {
  const span = Math.min(spanOf(limits), Math.max(SHORTEST, spanOf(window)));
  // Sums of a start and a span may miss the stop.
  if (span >= spanOf(limits) * (1 - LACK)) return { ...limits };
  const centre = (window.start + window.stop) / 2;
  const wanted = spanOf(window) < SHORTEST ? centre - span / 2 : window.start;
  const start = Math.min(Math.max(wanted, limits.start), limits.stop - span);
  return { start, stop: start + span };
}

/** The part of a range that lies within the limits; of one that lies beyond them, what is next to it. */
export function clip(limits: TimeWindow, range: TimeWindow): TimeWindow {
  const part = { start: Math.max(range.start, limits.start), stop: Math.min(range.stop, limits.stop) };
  return within(limits, part.stop > part.start ? part : range);
}

/** `factor` < 1 zooms in; the time `anchor` stays where it is on the screen, unless the limits forbid it. */
export function zoom(limits: TimeWindow, window: TimeWindow, factor: number, anchor: number): TimeWindow {
  const share = (anchor - window.start) / spanOf(window);
  const span = Math.min(spanOf(limits), Math.max(SHORTEST, spanOf(window) * factor));
  const start = anchor - span * share;
  return within(limits, { start, stop: start + span });
}

/** Positive seconds move to later times. */
export function pan(limits: TimeWindow, window: TimeWindow, seconds: number): TimeWindow {
  return within(limits, { start: window.start + seconds, stop: window.stop + seconds });
}

/** The window moved by the least that makes [start, stop] visible, widened if that does not fit. */
export function reveal(limits: TimeWindow, window: TimeWindow, start: number, stop: number): TimeWindow {
  const span = spanOf(window);
  if (start >= window.start && stop <= window.stop && stop - start > span / 500) return window;
  const wanted = Math.min(span, Math.max((stop - start) * 8, span / 1e6));
  const centre = (start + stop) / 2;
  return within(limits, { start: centre - wanted / 2, stop: centre + wanted / 2 });
}

/** The window with its start on a multiple of one pixel's time, so that panning does not make density shimmer. */
export function snapToPixels(window: TimeWindow, width: number): TimeWindow {
  const perPixel = spanOf(window) / width;
  const start = Math.round(window.start / perPixel) * perPixel;
  return { start, stop: start + spanOf(window) };
}

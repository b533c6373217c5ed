// Stretches of time: their overlaps and the gaps between them.
import { firstWhere } from '../base/lookUps.js';

/** A stretch of time, in seconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly stop: number;
}

/** Returns the sum of the seconds of all spans. */
export function secondsOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, stop }) => sum + stop - start, 0);
}

/** Returns the seconds of `parts` that lie inside at least one span. Parts are sorted and do not overlap. */
export function overlapSeconds(parts: readonly Span[], spans: readonly Span[]): number {
  let seconds = 0;
  for (const { start: from, stop: to } of merged(spans)) {
    let at = firstWhere(0, parts.length, (part) => !(parts[part]!.stop <= from));
    for (; at < parts.length && parts[at]!.start < to; at++)
      seconds += Math.max(0, Math.min(parts[at]!.stop, to) - Math.max(parts[at]!.start, from));
  }
  return seconds;
}

/** Returns the spans that overlap with the time from `from` to `to`, the last one first. Spans are in order of start and of stop. */
export function spansBetween<S extends Span>(spans: readonly S[], from: number, to: number): S[] {
  const end = firstWhere(0, spans.length, (at) => spans[at]!.start >= to);
  const first = firstWhere(0, end, (at) => spans[at]!.stop > from);
  return spans.slice(first, end).reverse();
}

/** Returns the parts of the time from `start` to `stop` that lie in none of the spans. */
export function gapsBetween(start: number, stop: number, spans: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let from = start;
  for (const { start: first, stop: last } of merged(spans)) {
    const to = Math.min(first, stop);
    if (to > from) gaps.push({ start: from, stop: to });
    from = Math.max(from, last);
  }
  if (stop > from) gaps.push({ start: from, stop });
  return gaps;
}

/** Returns the time that the spans cover, in order and without overlaps. */
export function merged(spans: readonly Span[]): Span[] {
  // Most calls have one span, and sorting would take several times as long as the rest.
  if (spans.length < 2) return [...spans];
  const result: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || span.start > last.stop) result.push(span);
    else result[result.length - 1] = { start: last.start, stop: Math.max(last.stop, span.stop) };
  }
  return result;
}

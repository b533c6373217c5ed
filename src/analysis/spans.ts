// Stretches of time: their overlaps and the gaps between them.

/** A stretch of time, in seconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly stop: number;
}

/** Returns the seconds of `parts` that lie inside at least one span. Parts are sorted and do not overlap. */
export function overlapSeconds(parts: readonly Span[], spans: readonly Span[]): number {
  let seconds = 0;
  let next = 0;
  for (const [from, to] of merged([...spans].sort((a, b) => a.start - b.start))) {
    while (next < parts.length && parts[next]!.stop <= from) next++;
    for (let at = next; at < parts.length && parts[at]!.start < to; at++)
      seconds += Math.max(0, Math.min(parts[at]!.stop, to) - Math.max(parts[at]!.start, from));
  }
  return seconds;
}

/** Returns the parts of the time from `start` to `stop` that lie in none of the spans. */
export function gapsBetween(start: number, stop: number, spans: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let from = start;
  for (const [first, last] of merged([...spans].sort((a, b) => a.start - b.start))) {
    const to = Math.min(first, stop);
    if (to > from) gaps.push({ start: from, stop: to });
    from = Math.max(from, last);
  }
  if (stop > from) gaps.push({ start: from, stop });
  return gaps;
}

function* merged(sorted: readonly Span[]): IterableIterator<[number, number]> {
  let current: [number, number] | undefined;
  for (const { start, stop } of sorted) {
    if (current !== undefined && start <= current[1]) {
      current[1] = Math.max(current[1], stop);
      continue;
    }
    if (current !== undefined) yield current;
    current = [start, stop];
  }
  if (current !== undefined) yield current;
}

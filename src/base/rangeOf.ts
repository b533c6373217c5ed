/** Returns the least and the greatest number of lists, without NaN; Infinity and -Infinity if there is none. */
export function rangeOf(...lists: readonly Float64Array[]): { start: number; stop: number } {
  let [start, stop] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of lists) {
    for (const value of list) {
      if (value < start) start = value;
      if (value > stop) stop = value;
    }
  }
  return { start, stop };
}

// Histograms of whole numbers, e.g. of the unfinished tasks of many workers.

/**
 * Returns at most `maxBins` bins of equal width from the smallest to the largest value. The width is a whole number. `to`
 * is the largest value of a bin.
 */
export function histogram(values: readonly number[], maxBins: number) {
  if (values.length === 0) return [];
  const lowest = values.reduce((least, value) => Math.min(least, value));
  const highest = values.reduce((most, value) => Math.max(most, value));
  const width = Math.ceil((highest - lowest + 1) / maxBins);
  const counts = new Array<number>(Math.ceil((highest - lowest + 1) / width)).fill(0);
  for (const value of values) counts[Math.floor((value - lowest) / width)]! += 1;
  return counts.map((count, i) => {
    const from = lowest + i * width;
    return { from, to: from + width - 1, count };
  });
}

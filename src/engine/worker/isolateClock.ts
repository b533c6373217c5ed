// One clock for all isolates of a machine. `process.hrtime` is the system's monotonic clock, the same in every thread
// and process; `performance.now()` is five times cheaper per call in a loop but starts at zero in each isolate.

/** Milliseconds of the system's monotonic clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Readings of two clocks one after the other, of which the closest pair counts. */
const READINGS = 8;

/**
 * How far a clock is ahead of `performance.now()`, both in milliseconds. A thread may lose its core between two
 * readings, for milliseconds, so the pair that lies closest together is taken.
 */
export function leadMs(clock: () => number): number {
  let lead = 0;
  let closest = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < READINGS; reading++) {
    const before = performance.now();
    const time = clock();
    const after = performance.now();
    if (after - before >= closest) continue;
    closest = after - before;
    lead = time - (before + after) / 2;
  }
  return lead;
}

/** Milliseconds to add to the monotonic clock to get milliseconds since the epoch. Taken once, by the caller's thread. */
export function epochOffsetMs(): number {
  return performance.timeOrigin - leadMs(monotonicMs);
}

/** A clock that gives seconds since the epoch as the caller's thread counts them. */
export function isolateClock(offsetMs: number): () => number {
  const base = offsetMs + leadMs(monotonicMs);
  return () => (performance.now() + base) / 1000;
}

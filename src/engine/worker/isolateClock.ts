// One clock for all isolates of a machine. `process.hrtime` is the system's monotonic clock, the same in every thread
// and process. `performance.now()` is five times cheaper per call in a loop, but starts at zero in each isolate.

/** Returns milliseconds of the system's monotonic clock. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Pairs of readings of two clocks. The closest pair counts. */
const READINGS = 8;

/**
 * Returns how far a clock is ahead of `performance.now()`, both in milliseconds. A thread may be preempted between
 * two readings, for milliseconds, so the closest pair is used.
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

/** Returns the milliseconds from the monotonic clock to the epoch. Only the caller's thread reads them. */
export function epochOffsetMs(): number {
  return performance.timeOrigin - leadMs(monotonicMs);
}

/** Returns a clock of seconds since the epoch that agrees with the caller's thread. */
export function isolateClock(offsetMs: number): () => number {
  const base = offsetMs + leadMs(monotonicMs);
  return () => (performance.now() + base) / 1000;
}

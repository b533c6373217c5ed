// One clock for all isolates of a machine. `process.hrtime` is the system's monotonic clock, the same in every thread
// and process; `performance.now()` is five times cheaper per call in a loop but starts at zero in each isolate.

/** Milliseconds of the system's monotonic clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Milliseconds to add to the monotonic clock to get milliseconds since the epoch. Taken once, by the caller's thread. */
export function epochOffsetMs(): number {
  return performance.timeOrigin + performance.now() - monotonicMs();
}

/** A clock that gives seconds since the epoch as the caller's thread counts them. */
export function isolateClock(offsetMs: number): () => number {
  const base = offsetMs + monotonicMs() - performance.now();
  return () => (performance.now() + base) / 1000;
}

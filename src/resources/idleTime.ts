// Computes the idle time of a thread. Its event loop measures that time, except for waits that a signal of the profiler
// interrupted.

/** Share of the time without CPU use that an event loop still reports as idle while it is interrupted every 10 ms. */
const IDLE_SHARE = 0.2;

/**
 * Returns the idle seconds of a period.
 *
 * If the event loop was idle for a good part, all time without CPU use counts. A thread that blocks its event loop is
 * not idle.
 *
 * @param elapsed length of the period in seconds
 * @param idle idle seconds that the event loop reports
 * @param cpu CPU seconds of the thread; NaN if unknown
 */
export function idleTime(elapsed: number, idle: number, cpu: number): number {
  const without = elapsed - cpu;
  return idle > 0 && idle >= IDLE_SHARE * without ? Math.min(elapsed, Math.max(idle, without)) : idle;
}

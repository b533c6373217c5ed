// How long a thread had nothing to do. Its event loop knows, but forgets every wait that a signal of the profiler interrupts.

/** Of the time without a core: what a loop that is interrupted every 10 ms still knows of its idle time. */
const IDLE_SHARE = 0.2;

/**
 * Seconds without work in a stretch of `elapsed` seconds, of which the event loop calls `idle` idle, and in which the thread
 * used `cpu` seconds of a core (NaN: not known). If it was idle for a good part, what it did not compute counts; a thread that
 * blocks its event loop is not idle.
 */
export function idleTime(elapsed: number, idle: number, cpu: number): number {
  const without = elapsed - cpu;
  return idle > 0 && idle >= IDLE_SHARE * without ? Math.min(elapsed, Math.max(idle, without)) : idle;
}

/** Seconds since the epoch with the resolution of the monotonic clock, on this isolate's own time origin. */
export function epochSeconds(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}

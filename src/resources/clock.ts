/** Returns seconds since the epoch with the resolution of the monotonic clock, based on this isolate's time origin. */
export function epochSeconds(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}

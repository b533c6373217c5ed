// Formats numbers for sentences.

/** `1.5 s`, `230 ms`, `12 µs`, `4.2 min`. */
export function secondsText(seconds: number): string {
  if (seconds >= 120) return `${short(seconds / 60)} min`;
  // What rounds to the next unit is in that unit.
  if (seconds >= 0.9995) return `${short(seconds)} s`;
  return seconds >= 0.9995e-3 ? `${short(seconds * 1e3)} ms` : `${short(seconds * 1e6)} µs`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `80 B`, `1.5 MB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${short(value)} ${UNITS[unit]}`;
}

/** `1120 MB`, `0.4 MB`: the same unit for all sizes, so that a reader can compare a size with a limit. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** Returns e.g. `37 %` for 0.37. */
export function percentText(share: number): string {
  return `${short(share * 100)} %`;
}

/** `1 task`, `20 tasks`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * @param threads of each worker; NaN: workers differ, and `workers` counts threads
 * @returns e.g. `4 workers`, `2 workers of 2 threads` or `5 threads`
 */
export function crewText(workers: number, threads: number): string {
  if (Number.isNaN(threads)) return countText(workers, 'thread');
  return `${countText(workers, 'worker')}${threads === 1 ? '' : ` of ${threads} threads`}`;
}

/** Rounds to two digits; whole numbers from 10 are not shortened. */
function short(value: number): string {
  return value >= 10 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));
}

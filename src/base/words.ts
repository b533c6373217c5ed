// Formats numbers for sentences.

/** Returns e.g. `1.5 s`, `230 ms`, `12 µs`, `4.2 min`, or `<0.1 µs` for less. */
export function secondsText(seconds: number): string {
  if (seconds >= 120) return `${short(seconds / 60)} min`;
  // A value that rounds up to the next unit is printed in that unit.
  if (seconds >= 0.9995) return `${short(seconds)} s`;
  if (seconds > 0 && seconds < 0.1e-6) return '<0.1 µs';
  return seconds >= 0.9995e-3 ? `${short(seconds * 1e3)} ms` : `${short(seconds * 1e6)} µs`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Returns e.g. `80 B` or `1.5 MB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // A value that rounds up to the next unit is printed in that unit.
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${short(value)} ${UNITS[unit]}`;
}

/**
 * Returns e.g. `1120 MB` or `0.4 MB`. All sizes have the same unit, so that a size can be compared with a limit, except
 * those that would be `0.0 MB`.
 */
export function megabytes(bytes: number): string {
  if (bytes > 0 && bytes < 0.05e6) return bytesText(bytes);
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** Returns e.g. `37 %` for 0.37, and `<0.1 %` for less. */
export function percentText(share: number): string {
  if (share > 0 && share < 0.001) return '<0.1 %';
  return `${short(share * 100)} %`;
}

/** Returns e.g. `1 task` or `20 tasks`. */
export function countText(count: number, noun: string): string {
  return `${integerText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Returns e.g. `4 workers`, `2 workers of 2 threads` or `5 threads`.
 * @param threads threads of each worker; NaN if the workers differ, and then `workers` is the number of threads
 */
export function crewText(workers: number, threads: number): string {
  if (Number.isNaN(threads)) return countText(workers, 'thread');
  return `${countText(workers, 'worker')}${threads === 1 ? '' : ` of ${threads} threads`}`;
}

/** Returns the words for failed runs of tasks that another run followed. */
export function repeatedWords(count: number): string {
  return `failed and ${count === 1 ? 'was' : 'were'} repeated`;
}

/** Rounds to an integer and groups its thousands, e.g. `12,345`. The first `toLocaleString` of a process takes 24 ms of CPU. */
export function integerText(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Rounds to two digits; whole numbers from 10 are not shortened. */
function short(value: number): string {
  return value >= 10 ? integerText(value) : String(Number(value.toPrecision(2)));
}

// Formats numbers for display: three significant digits, a suitable unit, and a no-break space between them. Shortens the
// names of workers.
import { integerText as formatCount } from '../../base/words.js';

export { formatCount };

const SPACE = '\u00a0';
/** Text for a number that is unknown. */
const UNKNOWN = '–';

/** Formats a number with three significant digits and without an exponent: 1.23, 12.3, 123, 1,234. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return formatCount(value);
  const digits = size >= 10 ? 1 : size >= 1 ? 2 : Math.min(8, 2 - Math.floor(Math.log10(size)));
  return trimZeros(value.toFixed(digits));
}

/** Formats like formatNumber, but 20 as 20.0, so that the durations of a column align. */
function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** Formats seconds as `870 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`, `3 min 20 s`, `2 h 05 min`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return UNKNOWN;
  const size = Math.abs(seconds);
  if (size === 0) return `0${SPACE}s`;
  if (size < 0.9995e-6) return `${threeDigits(seconds * 1e9)}${SPACE}ns`;
  if (size < 0.9995e-3) return `${threeDigits(seconds * 1e6)}${SPACE}µs`;
  if (size < 0.9995) return `${threeDigits(seconds * 1e3)}${SPACE}ms`;
  if (size < 99.95) return `${threeDigits(seconds)}${SPACE}s`;
  const whole = Math.round(size);
  const sign = seconds < 0 ? '−' : '';
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)}${SPACE}min${SPACE}${pad(whole % 60)}${SPACE}s`;
  const minutes = Math.round(size / 60);
  return `${sign}${Math.floor(minutes / 60)}${SPACE}h${SPACE}${pad(minutes % 60)}${SPACE}min`;
}

/** Formats bytes in decimal units, like Dask's "memory in MB": 1 MB = 1,000,000 bytes. */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return UNKNOWN;
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let power = 0;
  while (power < units.length - 1 && Math.abs(bytes) >= 999.5 * 1000 ** power) power++;
  return `${formatNumber(bytes / 1000 ** power)}${SPACE}${units[power]}`;
}

/** Formats percent: `87 %`, `0.4 %`, and `<0.1 %` for a positive value that would round to 0. */
export function formatPercent(percent: number): string {
  if (!Number.isFinite(percent)) return UNKNOWN;
  if (percent > 0 && percent < 0.05) return `<0.1${SPACE}%`;
  const text = percent >= 10 || percent === 0 ? formatCount(percent) : trimZeros(percent.toFixed(1));
  return `${text}${SPACE}%`;
}

/** Formats a change with its sign, and without one if it rounds to 0. */
export function formatChange(change: number, digits: number): string {
  const text = Math.abs(change).toFixed(digits);
  return `${Number(text) === 0 ? '' : change > 0 ? '+' : '−'}${text}`;
}

/** Formats an epoch time as the local time of day with milliseconds. */
export function formatClock(epochSeconds: number): string {
  if (!Number.isFinite(epochSeconds)) return UNKNOWN;
  const date = new Date(epochSeconds * 1000);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part)).join(':');
  return `${clock}.${pad(date.getMilliseconds(), 3)}`;
}

/** Formats an epoch time as the local date and time of day, to the second. */
export function formatDate(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000);
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${formatClock(epochSeconds).slice(0, 8)}`;
}

export function pad(part: number, width = 2): string {
  return String(part).padStart(width, '0');
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Formats a time with the digits that a pixel of the window needs. */
export function shortNumber(value: number, span: number): string {
  return value.toFixed(Math.min(9, Math.max(0, 4 - Math.floor(Math.log10(span > 0 ? span : 1)))));
}

/** Length up to which names are not shortened. */
const SHORT = 14;
/** Fewest characters that `…` replaces. */
const MIN_CUT = 4;
const SEPARATOR = /[^\p{L}\p{N}]/u;

/**
 * Replaces the common beginning and the common end of all names by `…`, up to a separator. Short names, and names
 * without a common part, stay unchanged. Addresses of a cluster have the same beginning, so cutting off their ends would
 * make them equal.
 */
export function shortNames(names: readonly string[]): readonly string[] {
  const different = [...new Set(names)];
  if (different.length < 2 || different.every(({ length }) => length <= SHORT)) return names;
  const prefix = wholeParts(different.reduce(commonStart));
  const reversed = different.map((name) => name.slice(prefix.length).split('').reverse().join(''));
  const suffix = wholeParts(reversed.reduce(commonStart));
  const from = prefix.length >= MIN_CUT ? prefix.length : 0;
  const cut = suffix.length >= MIN_CUT ? suffix.length : 0;
  return names.map((name) => {
    const middle = name.slice(from, name.length - cut);
    return `${from > 0 ? '…' : ''}${middle}${cut > 0 ? '…' : ''}`;
  });
}

function commonStart(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return a.slice(0, at);
}

/** Cuts a text after its last separator: `worker-1` and `worker-12` share `worker-`, not `worker-1`. */
function wholeParts(text: string): string {
  let at = text.length;
  while (at > 0 && !SEPARATOR.test(text[at - 1]!)) at--;
  return text.slice(0, at);
}

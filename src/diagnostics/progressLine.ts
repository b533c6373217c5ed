// The text of a progress bar, for the main thread and the drawing thread.

export interface ProgressLine {
  readonly finished: number;
  /** Number of tasks; 0 counts as 100 %. */
  readonly size: number;
  readonly seconds: number;
  readonly width: number;
  /** Characters in a line of the terminal. A longer text would wrap and could not be redrawn. */
  readonly columns?: number | undefined;
}

/** Returns e.g. `[########################################] | 100% Completed | 17.1 s`. */
export function progressLine({ finished, size, seconds, width, columns }: ProgressLine): string {
  const part = (whole: number): number =>
    size === 0 ? whole : Math.floor((whole * Math.min(finished, size)) / size);
  const tail = `| ${part(100)}% Completed | ${formatTime(seconds)}`;
  const room = columns === undefined || columns <= 0 ? width : columns - tail.length - '[] '.length - 1;
  const cells = Math.max(1, Math.min(width, room));
  return `[${'#'.repeat(part(cells)).padEnd(cells)}] ${tail}`;
}

/**
 * Formats seconds to a tenth: `17.1 s`, `1min 40.4 s`, `2hr 46min 40.4 s`.
 *
 * @source Dask's progress bar
 */
export function formatTime(seconds: number): string {
  // Round first, so that 59.96 s becomes 1min 0.0 s and not 60.0 s.
  const tenths = Math.round(Math.max(0, seconds) * 10);
  const rest = `${((tenths % 600) / 10).toFixed(1)} s`;
  const minutes = Math.floor(tenths / 600);
  if (minutes === 0) return rest;
  return minutes < 60 ? `${minutes}min ${rest}` : `${Math.floor(minutes / 60)}hr ${minutes % 60}min ${rest}`;
}

// The text of a progress bar. Drawn by the main thread and by the drawing thread alike.
import { formatTime } from './formatTime.js';

export interface ProgressLine {
  readonly finished: number;
  /** Number of tasks; 0 means that there is nothing to do. */
  readonly size: number;
  readonly seconds: number;
  /** Characters between the brackets. */
  readonly width: number;
  /** Characters that the terminal shows in a line; a longer line would wrap and could not be drawn over. */
  readonly columns?: number | undefined;
}

/** `[########################################] | 100% Completed | 17.1 s` */
export function progressLine({ finished, size, seconds, width, columns }: ProgressLine): string {
  const part = (whole: number): number =>
    size === 0 ? whole : Math.floor((whole * Math.min(finished, size)) / size);
  const tail = `| ${part(100)}% Completed | ${formatTime(seconds)}`;
  const room = columns === undefined || columns <= 0 ? width : columns - tail.length - '[] '.length - 1;
  const cells = Math.max(1, Math.min(width, room));
  return `[${'#'.repeat(part(cells)).padEnd(cells)}] ${tail}`;
}

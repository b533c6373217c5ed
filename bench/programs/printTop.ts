import type { Row } from './logSteps.js';

/** Number of printed users. */
export const COUNT = 5;

export function printTop(rows: readonly Row[]): void {
  console.log(rows.map(({ user, country, bytes }) => `${user} (${country}): ${bytes}`).join(', '));
}

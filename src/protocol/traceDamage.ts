// Which parts of a file could not be read, as traces, reports and messages to a page state it.
import { hasFields } from '../base/json.js';
import { countText } from '../base/words.js';

/** The parts of a file that could not be read. */
export interface TraceDamage {
  /** Number of skipped parts. */
  readonly stretches: number;
  /** Number of skipped bytes. */
  readonly bytes: number;
  /** Offset of the first skipped part in its file, in bytes. */
  readonly offset: number;
  /** Reason why the first part was skipped. */
  readonly reason: string;
}

/** Returns the damage in parsed JSON; undefined if it is not complete. */
export function damageFrom(value: unknown): TraceDamage | undefined {
  if (!hasFields(value, { stretches: 'number', bytes: 'number', offset: 'number', reason: 'string' }))
    return undefined;
  const { stretches, bytes, offset, reason } = value;
  return stretches >= 0 && bytes >= 0 && offset >= 0 ? { stretches, bytes, offset, reason } : undefined;
}

/** Returns what is missing, for the end of a sentence. */
export function damageText({ stretches, bytes, offset, reason }: TraceDamage): string {
  if (bytes === 0) return reason;
  const more = stretches > 1 ? ` and ${countText(stretches - 1, 'more place')}` : '';
  return `${bytes} bytes were skipped at byte ${offset}${more} (${reason})`;
}

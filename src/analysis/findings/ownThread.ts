// What two rules say about the program's thread. On a busy machine it takes longer to compute, because it waits for a
// core. The run then waits for the program, too. But even a program that computes for a millisecond waits for a core.
import { secondsText } from '../../base/words.js';
import { type Facts, MIN_COST } from './finding.js';

/** Share of the time without a core, from which it is mentioned. */
const MUCH = 0.2;

/**
 * Returns whether the program is the cause of a wait in which it computed for some seconds, and waited for a core for
 * others: without the waits, it would still cost enough for a finding.
 */
export function isCause({ makespan }: Facts, computed: number, coreWait: number): boolean {
  return computed > 0 && computed >= MIN_COST * (makespan - coreWait);
}

/** Returns the end of a sentence about some seconds of the program. */
export function coreWaitText(seconds: number, coreWait: number): string {
  return coreWait >= MUCH * seconds ? `, ${secondsText(coreWait)} of it without a core` : '';
}

// Reports results that could not be fetched. The loss of a peer fails all fetches from it at about the same time, and would
// otherwise write a line for each result that a task needs.
import { LongpoleError, messageOf } from '../../base/errors.js';

/** Milliseconds for which failures of one peer are collected. */
const COLLECT_MS = 100;

export type FetchFailed = (address: string, results: number, error: unknown) => void;

/** @param notify receives one text for the failures of a peer */
export function failedFetches(notify: (topic: string, text: string) => void): FetchFailed {
  /** Address of a peer → number of results. */
  const failed = new Map<string, number>();
  return (address, results, error) => {
    const before = failed.get(address);
    failed.set(address, (before ?? 0) + results);
    if (before !== undefined) return;
    const report = (): void => {
      const count = failed.get(address) ?? 0;
      failed.delete(address);
      notify('peer', `${messageOf(error)} Number of results: ${count}.`);
    };
    setTimeout(report, COLLECT_MS).unref();
  };
}

/** Returns why a fetch could not reach its peer; undefined if the peer has answered before. */
export function unreachableText(error: unknown): string | undefined {
  return error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_UNREACHABLE'
    ? error.message
    : undefined;
}

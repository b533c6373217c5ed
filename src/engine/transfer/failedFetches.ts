// Reports results that could not be fetched. The loss of a peer fails all fetches from it at about the same time, and would
// otherwise write a line for each result that a task needs.
import { messageOf } from '../../base/errors.js';

/** Milliseconds for which failures of one peer are collected. */
const COLLECT_MS = 100;

export class FailedFetches {
  readonly #notify: (topic: string, text: string) => void;
  /** Address of a peer → number of results. */
  readonly #results = new Map<string, number>();

  /** @param notify receives one text for the failures of a peer */
  constructor(notify: (topic: string, text: string) => void) {
    this.#notify = notify;
  }

  add(address: string, results: number, error: unknown): void {
    const before = this.#results.get(address);
    this.#results.set(address, (before ?? 0) + results);
    if (before !== undefined) return;
    const report = (): void => {
      const count = this.#results.get(address) ?? 0;
      this.#results.delete(address);
      this.#notify('peer', `${messageOf(error)} Number of results: ${count}.`);
    };
    setTimeout(report, COLLECT_MS).unref();
  }
}

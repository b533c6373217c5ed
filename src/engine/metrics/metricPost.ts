// Tells of what a worker has measured: only what changed, and not for each task alone.
import type { MetricChanges } from '../../protocol/metrics.js';
import type { MetricLedger } from './metricLedger.js';

/** How long what tasks measured may wait for what the next ones measure, in milliseconds. */
const PATIENCE_MS = 20;

export class MetricPost {
  readonly #ledger: MetricLedger;
  readonly #tell: (changes: MetricChanges) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: MetricLedger, tell: (changes: MetricChanges) => void) {
    this.#ledger = ledger;
    this.#tell = tell;
  }

  /** Takes in what an isolate has measured; it is told soon. */
  add(changes: MetricChanges): void {
    this.#ledger.merge(changes);
    this.#timer ??= setTimeout(() => this.send(), PATIENCE_MS).unref();
  }

  /** Tells of everything now. */
  send(): void {
    this.close();
    const changes = this.#ledger.takeChanges();
    if (changes.keys.length > 0) this.#tell(changes);
  }

  /** Nothing is told by itself any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

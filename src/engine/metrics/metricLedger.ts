// Sums of metrics by key, with what has changed since somebody asked: each heartbeat sends only that. Isolates, workers
// and the scheduler each keep one.
import { type MetricChanges, type MetricKey, OTHERS } from '../../protocol/metrics.js';

const DEFAULT_CAPACITY = 100_000;
/** Changes that one heartbeat carries at most; the rest waits for the next. */
const DEFAULT_LIMIT = 10_000;

/** One metric, to be added to without looking it up again. */
export interface MetricEntry {
  readonly key: MetricKey;
  /** Since the ledger was made. */
  readonly total: number;
  add(value: number): void;
}

class Entry implements MetricEntry {
  readonly key: MetricKey;
  total = 0;
  /** Since the last takeChanges. */
  change = 0;
  /** Stands in the list of changes. */
  listed = false;
  readonly #changed: Entry[];

  constructor(key: MetricKey, changed: Entry[]) {
    this.key = key;
    this.#changed = changed;
  }

  add(value: number): void {
    this.total += value;
    this.change += value;
    if (this.listed) return;
    this.listed = true;
    this.#changed.push(this);
  }
}

export class MetricLedger {
  readonly #entries = new Map<string, Entry>();
  #changed: Entry[] = [];
  readonly #capacity: number;

  /**
   * @param capacity keys that are kept apart at most, default 100,000 (~25 MB); further tasks count under the prefix and
   *   span `(others)`, so that the sums stay whole
   */
  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Something was added that takeChanges has not told. */
  get hasChanges(): boolean {
    return this.#changed.length > 0;
  }

  add(key: MetricKey, value: number): void {
    this.entry(key).add(value);
  }

  /** The metric of this key, made if there is none. */
  entry(key: MetricKey): MetricEntry {
    const text = key.join('\u0000');
    const known = this.#entries.get(text);
    if (known !== undefined) return known;
    if (this.size >= this.#capacity && !key.includes(OTHERS)) return this.entry(folded(key));
    if (this.size >= 1.1 * this.#capacity && key.at(-2) !== OTHERS)
      return this.entry([...key.slice(0, -2), OTHERS, key.at(-1) ?? '']);
    const entry = new Entry([...key], this.#changed);
    this.#entries.set(text, entry);
    return entry;
  }

  /** 0 if nothing was added under this key. */
  get(key: MetricKey): number {
    return this.#entries.get(key.join('\u0000'))?.total ?? 0;
  }

  /** What has been added since the last call, at most `limit` keys of it, default 10,000; the rest comes with later calls. */
  takeChanges(limit: number = DEFAULT_LIMIT): MetricChanges {
    const taken = this.#changed.splice(0, limit);
    const values = Float64Array.from(taken, (entry) => {
      const { change } = entry;
      entry.change = 0;
      entry.listed = false;
      return change;
    });
    return { keys: taken.map(({ key }) => key), values };
  }

  /** Adds what another ledger has counted. */
  merge({ keys, values }: MetricChanges): void {
    for (const [index, key] of keys.entries()) this.add(key, values[index]!);
  }

  /** Every key with its sum. */
  *[Symbol.iterator](): IterableIterator<[key: MetricKey, value: number]> {
    for (const { key, total } of this.#entries.values()) yield [key, total];
  }
}

/** A key that does not grow in number with prefixes and spans; activity and unit stay. */
function folded(key: MetricKey): MetricKey {
  if (key.length < 4) return [key[0] ?? '', OTHERS, key.at(-1) ?? ''];
  return [key[0] ?? '', ...key.slice(1, -2).map(() => OTHERS), ...key.slice(-2)];
}

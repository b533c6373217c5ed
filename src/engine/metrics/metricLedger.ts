// Sums of metrics by key, with the changes since the last query, so that each heartbeat sends only changes. Isolates,
// workers and the scheduler each keep a ledger.
import { type MetricChanges, type MetricKey, OTHERS } from '../../protocol/metrics.js';

const DEFAULT_CAPACITY = 100_000;
/** Most changes in one heartbeat; the rest waits for the next. */
const DEFAULT_LIMIT = 10_000;

/** One metric, to which callers add without another look-up. */
export type MetricEntry = Readonly<Pick<Entry, 'total' | 'add'>>;

class Entry {
  readonly key: MetricKey;
  /** Sum since the ledger was created. */
  total = 0;
  /** Sum since the last takeChanges. */
  change = 0;
  /** True while the entry is in the list of changes. */
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
  readonly #changed: Entry[] = [];
  readonly #capacity: number;

  /**
   * @param capacity most keys that are kept apart, default 100,000 (~25 MB); further tasks count under the prefix and
   * span `(others)`, so that totals stay exact
   */
  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** True if takeChanges has not returned some addition yet. */
  get hasChanges(): boolean {
    return this.#changed.length > 0;
  }

  add(key: MetricKey, value: number): void {
    this.entry(key).add(value);
  }

  /** Returns the metric of this key, and creates it if needed. */
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

  /** Returns the sum of a key; 0 if it has none. */
  get(key: MetricKey): number {
    return this.#entries.get(key.join('\u0000'))?.total ?? 0;
  }

  /** Returns the additions since the last call, for at most `limit` keys, default 10,000. Later calls return the rest. */
  takeChanges(limit: number = DEFAULT_LIMIT): MetricChanges {
    const taken = this.#changed.splice(0, limit);
    const values = taken.map((entry) => {
      const { change } = entry;
      entry.change = 0;
      entry.listed = false;
      return change;
    });
    return { keys: taken.map(({ key }) => key), values };
  }

  /** Adds the counts of another ledger. */
  merge({ keys, values }: MetricChanges): void {
    for (const [index, key] of keys.entries()) this.add(key, values[index]!);
  }

  /** Yields every key with its sum. */
  *[Symbol.iterator](): IterableIterator<[key: MetricKey, value: number]> {
    for (const { key, total } of this.#entries.values()) yield [key, total];
  }
}

/** Returns a key whose number does not grow with prefixes and spans; activity and unit stay. */
function folded(key: MetricKey): MetricKey {
  if (key.length < 4) return [key[0] ?? '', OTHERS, key.at(-1) ?? ''];
  return [key[0] ?? '', ...key.slice(1, -2).map(() => OTHERS), ...key.slice(-2)];
}

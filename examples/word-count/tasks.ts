// The functions that run on the workers.
import { readFile } from 'node:fs/promises';
import { tasks } from 'longpole';

export type Counts = ReadonlyMap<string, number>;

export const { countWords, merge, most } = tasks(import.meta.url, {
  async countWords(path: string, ignored: ReadonlySet<string>): Promise<Counts> {
    const counts = new Map<string, number>();
    for (const [word] of (await readFile(path, 'utf8')).toLowerCase().matchAll(/\p{L}+/gu))
      if (!ignored.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  },
  merge(parts: readonly Counts[]): Counts {
    const all = new Map<string, number>();
    for (const part of parts) for (const [word, count] of part) all.set(word, (all.get(word) ?? 0) + count);
    return all;
  },
  /** Returns the most frequent words; equally frequent ones are ordered by name. */
  most(counts: Counts, limit: number): (readonly [string, number])[] {
    return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, limit);
  },
});

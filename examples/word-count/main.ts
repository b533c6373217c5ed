// Counts words in text files on a cluster. The counts stay on the workers; the program receives the most frequent
// words.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Client, connect, type Future } from 'longpole';
import { type Counts, countWords, merge, most } from './tasks.js';

/** Number of counts that one task merges. */
const FAN_IN = 8;
const IGNORED = new Set(['a', 'an', 'and', 'as', 'in', 'is', 'it', 'of', 'on', 'or', 'that', 'the', 'to']);

/** Merges counts until one is left, and releases the merged ones. */
function mergeAll(client: Client, parts: readonly Future<Counts>[]): Future<Counts> {
  const [first] = parts;
  if (first === undefined) throw new RangeError('There are no files to count.');
  if (parts.length === 1) return first;
  const merged: Future<Counts>[] = [];
  for (let start = 0; start < parts.length; start += FAN_IN)
    merged.push(client.submit(merge, parts.slice(start, start + FAN_IN)));
  for (const part of parts) part.release();
  return mergeAll(client, merged);
}

async function main(folder: string, extension: string, processes: boolean): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name));
  await using client = await connect({ processes });
  const ignored = await client.scatter(IGNORED, { broadcast: true });
  const counts = files.map((file) => client.submit(countWords, file, ignored));
  const words = await client.submit(most, mergeAll(client, counts), 5).result();
  console.log(`${files.length} files`);
  for (const [word, count] of words) console.log(`${String(count).padStart(6)} ${word}`);
  const { workers } = client.schedulerInfo();
  console.log(`workers: ${Object.keys(workers).join(', ')}`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    extension: { type: 'string', default: '.md' },
    processes: { type: 'boolean', default: false },
  },
});
await main(positionals[0] ?? 'docs', values.extension, values.processes);

// Texts of ids that may be absent.

import { oncePer } from '../base/lookUps.js';
import type { Texts } from './texts.js';
import type { TaskRows, Trace, WorkerRows } from './trace.js';

/** Returns the text of an id, or an empty text for an absent id. */
export function textOf(strings: Pick<Texts, 'get'>, id: number | undefined): string {
  return id === undefined || id < 0 ? '' : strings.get(id);
}

/** Returns the name of a worker for display. Later workers with the same name are called `name (2)`, `name (3)`, … */
export function workerName(trace: Trace, worker: number): string {
  if (worker < 0) return 'no worker';
  const name = trace.workers.name[worker] ?? -1;
  if (name < 0) return `worker ${worker}`;
  const number = incarnations(trace)[worker]!;
  return number > 1 ? `${trace.strings.get(name)} (${number})` : trace.strings.get(name);
}

/** Returns, by row of workers, how many workers of this name and host had joined up to this one. */
const incarnations = oncePer(({ workers }: Trace): Uint32Array => {
  const counts = new Map<string, number>();
  return Uint32Array.from(workers.name, (name, row) => {
    const id = `${workers.host[row]} ${name}`;
    const number = (counts.get(id) ?? 0) + 1;
    counts.set(id, number);
    return number;
  });
});

/** Returns the newest events that mention a key, at most `most`, in order of time. Texts have at most `longest` characters. */
export function newestMentions({ events, strings }: Trace, key: string, most: number, longest: number) {
  const lines: { row: number; time: number; topic: string; text: string }[] = [];
  for (let row = events.length - 1; row >= 0 && lines.length < most; row--) {
    const text = textOf(strings, events.text[row]);
    if (!mentions(text, key)) continue;
    const topic = textOf(strings, events.topic[row]);
    lines.push({ row, time: events.time[row]!, topic, text: text.slice(0, longest) });
  }
  return lines.reverse();
}

/** Returns whether a text contains a key as a separate word. */
function mentions(text: string, key: string): boolean {
  const isPart = (letter: string | undefined): boolean => letter !== undefined && /[\w-]/.test(letter);
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1))
    if (key !== '' && !isPart(text[at - 1]) && !isPart(text[at + key.length])) return true;
  return false;
}

export function lastRowOf(tasks: TaskRows, matches: (key: string) => boolean): number | undefined {
  for (let row = tasks.length - 1; row >= 0; row--) if (matches(tasks.keyOf(row))) return row;
  return undefined;
}

/** Returns a placeholder for the key of a task of which only the id is known. */
export function unknownKey(id: number): string {
  return `(task ${id})`;
}

/**
 * Returns the hosts of rows. Resource samples without a worker belong to the scheduler's host, which is the first
 * worker's.
 */
export function hostsOf(table: 'memory' | 'resources', worker: Int32Array, { host }: WorkerRows): Int32Array {
  return worker.map((row) => host[table === 'resources' ? Math.max(0, row) : row] ?? -1);
}

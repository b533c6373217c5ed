// The share of samples in which tasks were inside certain functions, e.g. those that acquire a lock.
import { addTo } from '../../base/lookUps.js';
import { type Trace, textOf } from '../../trace/trace.js';
import type { Facts } from './finding.js';

/**
 * Returns the share of samples inside of functions that `isOne` recognises, or that these call, by prefix, if it is at least `least`.
 * Cost: a walk over the samples.
 */
export function sampledShares(
  { samples, frames, strings }: Trace,
  least: number,
  isOne: (functionName: string, file: string) => boolean,
): ReadonlyMap<number, number> {
  const isInside = new Uint8Array(frames.length);
  // Callers come first.
  for (let row = 0; row < frames.length; row++)
    if (
      isInside[frames.parent[row]!] === 1 ||
      isOne(textOf(strings, frames.functionName[row]!), textOf(strings, frames.file[row]!))
    )
      isInside[row] = 1;
  const [all, inside] = [new Map<number, number>(), new Map<number, number>()];
  for (let row = 0; row < samples.length; row++) {
    addTo(all, samples.prefix[row]!, samples.count[row]!);
    if (isInside[samples.frame[row]!] === 1) addTo(inside, samples.prefix[row]!, samples.count[row]!);
  }
  const shares = Array.from(inside, ([id, count]): [number, number] => [id, count / all.get(id)!]);
  return new Map(shares.filter(([id, share]) => id >= 0 && share >= least));
}

/** Returns the seconds of tasks for which these shares stand, by prefix. */
export function shareSeconds(
  { trace, lanes }: Facts,
  shares: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const { prefix, duration } = trace.tasks;
  const seconds = new Map<number, number>();
  for (const row of lanes.spans.rows)
    if (shares.has(prefix[row]!)) addTo(seconds, prefix[row]!, shares.get(prefix[row]!)! * duration[row]!);
  return seconds;
}

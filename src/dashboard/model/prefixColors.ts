// The colour of a prefix on every page: the one that it has in the task stream.
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { assignColors, colorSlot, type Scheme, slotColor } from './palette.js';

/** Prefix → number of its colour. Prefixes that no run has had yet have the one of their name. */
export const prefixSlots = oncePer((trace: Trace): ((prefix: string) => number) => {
  const names = [...trace.totals.prefixes.keys()];
  const assigned = assignColors(names);
  const slots = new Map(names.map((name, i) => [name, assigned[i]!]));
  return (prefix) => slots.get(prefix) ?? colorSlot(prefix);
});

/** Prefix → `#rrggbb`. */
export function prefixColors(trace: Trace, scheme: Scheme): (prefix: string) => string {
  const slots = prefixSlots(trace);
  return (prefix) => slotColor(slots(prefix), scheme);
}

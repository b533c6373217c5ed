// The colour of a prefix on every page: the one that it has in the task stream.
import type { Trace } from '../../trace/trace.js';
import { assignColors, colorSlot, type Scheme, slotColor } from './palette.js';

const known = new WeakMap<Trace, ReadonlyMap<string, number>>();

/** Prefix → number of its colour. Prefixes that no run has had yet have the one of their name. */
export function prefixSlots(trace: Trace): (prefix: string) => number {
  let slots = known.get(trace);
  if (slots === undefined) {
    const names = [...trace.totals.prefixes.keys()];
    const assigned = assignColors(names);
    slots = new Map(names.map((name, i) => [name, assigned[i]!]));
    known.set(trace, slots);
  }
  const found = slots;
  return (prefix) => found.get(prefix) ?? colorSlot(prefix);
}

/** Prefix → `#rrggbb`. */
export function prefixColors(trace: Trace, scheme: Scheme): (prefix: string) => string {
  const slots = prefixSlots(trace);
  return (prefix) => slotColor(slots(prefix), scheme);
}

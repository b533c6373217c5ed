// The colours of prefixes, the same on every page as in the task stream.
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { assignColors, colorSlot, type Scheme, slotColor } from './palette.js';

/** Returns the slots of prefixes. The slot of a prefix without runs depends on its name only. */
export const prefixSlots = oncePer((trace: Trace): ((prefix: string) => number) => {
  const names = [...trace.totals.prefixes.keys()];
  const assigned = assignColors(names);
  const slots = new Map(names.map((name, i) => [name, assigned[i]!]));
  return (prefix) => slots.get(prefix) ?? colorSlot(prefix);
});

/** Returns the colours of prefixes as `#rrggbb`. */
export function prefixColors(trace: Trace, scheme: Scheme): (prefix: string) => string {
  const slots = prefixSlots(trace);
  return (prefix) => slotColor(slots(prefix), scheme);
}

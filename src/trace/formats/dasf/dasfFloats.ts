// Floats with whole values, e.g. 0.0. JavaScript does not distinguish them from integers, but DASF's files do: `cpu: 0.0`
// must not become `cpu: 0` when a file is rewritten.
import { type EventArgs, RESOURCE_EVENT } from './dasfEvents.js';
import { mapEntries, unpackValue } from './msgpack.js';

/** Figures of resource events that are floats in DASF's files, beside those that end in `_bps`. */
const FLOAT_FIGURES: ReadonlySet<string> = new Set([
  'cpu',
  'time',
  'host_cpu',
  'event_loop_delay',
  'event_loop_utilization',
]);

/** Names of the floats with whole values in the arguments of events that were read from a file. */
const read = new WeakMap<EventArgs, ReadonlySet<string>>();

/** Returns the names of the whole numbers in the arguments of an event that are floats; undefined if there are none. */
export function floatNames(event: {
  readonly name: string;
  readonly args: EventArgs;
}): ReadonlySet<string> | undefined {
  if (event.name !== RESOURCE_EVENT) return read.get(event.args);
  const isFloat = (name: string): boolean => FLOAT_FIGURES.has(name) || name.endsWith('_bps');
  return new Set(
    Object.keys(event.args).filter((name) => isFloat(name) && Number.isInteger(event.args[name])),
  );
}

/** Remembers which arguments of an event are floats with whole values in its record `bytes[start .. end)`. */
export function keepFloats(
  args: EventArgs,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): void {
  const names = new Set<string>();
  for (const [key, value] of mapEntries(bytes, view, start, end)) {
    if (unpackValue(bytes, view, key, value.start) !== 'args') continue;
    for (const [name, { start: at, end: stop }] of mapEntries(bytes, view, value.start, value.end)) {
      if (bytes[at] !== 0xca && bytes[at] !== 0xcb) continue;
      const text = unpackValue(bytes, view, name, at);
      if (typeof text === 'string' && Number.isInteger(unpackValue(bytes, view, at, stop))) names.add(text);
    }
  }
  if (names.size > 0) read.set(args, names);
}

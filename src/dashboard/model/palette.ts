// The colours of prefixes. A prefix hashes to one of 16 colours, so it has the same colour in every plot and on every
// page. If two prefixes of a page hash to the same colour, one of them gets another colour, which depends on the set of
// prefixes only. The colours have the largest distance in OKLab under normal, protan, deutan and tritan vision.
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';

export type Scheme = 'light' | 'dark';

// biome-ignore format: a table
const LIGHT = [
  '#0e97a9', '#8e4e00', '#c9a32e', '#614fa6', '#989dfb', '#2c713f', '#ca6164', '#2bc29b',
  '#7d4f6e', '#777bd5', '#a38207', '#cc845b', '#2f7cac', '#b69bcb', '#9d5b88', '#5da7a2',
] as const;

// biome-ignore format: a table
const DARK = [
  '#32aabc', '#a15f1e', '#dbb64c', '#7262b7', '#adb3fd', '#3e8250', '#dd7577', '#50d5ae',
  '#8f607f', '#898ee7', '#b6942a', '#e0976d', '#438ebf', '#c9aedf', '#b06c9a', '#70bab5',
] as const;

/** Number of colours. More prefixes than this share colours. */
export const COLOR_COUNT = LIGHT.length;

/** Returns the slot (the number of a colour) of each prefix, by index. */
export function assignColors(prefixes: readonly string[]): Uint8Array {
  const slots = new Uint8Array(prefixes.length);
  const order = prefixes.map((_, i) => i).sort((a, b) => (prefixes[a]! < prefixes[b]! ? -1 : 1));
  const taken = new Set<number>();
  const displaced: number[] = [];
  for (const index of order) {
    const slot = colorSlot(prefixes[index]!);
    slots[index] = slot;
    if (taken.has(slot)) displaced.push(index);
    taken.add(slot);
  }
  for (const index of displaced) {
    for (let step = 0; step < COLOR_COUNT; step++) {
      const slot = (slots[index]! + step * 5) % COLOR_COUNT;
      if (taken.has(slot)) continue;
      slots[index] = slot;
      taken.add(slot);
      break;
    }
  }
  return slots;
}

/** Returns the slot of a prefix, unless another prefix of the page has this slot (FNV-1a, mixed). */
export function colorSlot(prefix: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < prefix.length; i++) hash = Math.imul(hash ^ prefix.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) % COLOR_COUNT;
}

/** Slots in an order in which the first ones differ the most, for lines that cross each other. */
const LINE_SLOTS = [12, 2, 1, 4, 6, 7, 3, 14, 10, 11, 9, 8, 0, 5, 15, 13] as const;

/** Returns the slot of a line by the index of what it shows, e.g. a worker; -1 for the scheduler or the host. */
export function lineSlot(index: number): number {
  return LINE_SLOTS[(index + 1) % LINE_SLOTS.length]!;
}

/** Slots of activities and of failed tasks, in the colours of Dask's task stream. */
export const ACTIVITY_SLOTS = { gather: 16, disk: 17, serialize: 18, gc: 19, erred: 20 } as const;
/** Action → name and slot of its activity. */
export const ACTIVITIES: Readonly<Record<string, readonly [name: string, slot: number]>> = {
  transfer: ['gather dependencies', ACTIVITY_SLOTS.gather],
  'disk-read': ['disk', ACTIVITY_SLOTS.disk],
  'disk-write': ['disk', ACTIVITY_SLOTS.disk],
  serialize: ['serialize', ACTIVITY_SLOTS.serialize],
  deserialize: ['serialize', ACTIVITY_SLOTS.serialize],
  compress: ['serialize', ACTIVITY_SLOTS.serialize],
  decompress: ['serialize', ACTIVITY_SLOTS.serialize],
  gc: ['garbage collection', ACTIVITY_SLOTS.gc],
};
const LIGHT_ACTIVITIES = ['#d7191c', '#f28e00', '#9aa1ab', '#c9ced6', '#11151b'] as const;
const DARK_ACTIVITIES = ['#ff4d4f', '#ffa726', '#7d8694', '#59616d', '#f5f7fa'] as const;
/** Offset from the slot of a prefix to the lighter colour of its running tasks. */
export const RUNNING = 64;

/** Returns `#rrggbb` of a slot. */
export function slotColor(slot: number, scheme: Scheme): string {
  if (slot >= RUNNING)
    return mix(slotColor(slot - RUNNING, scheme), scheme === 'light' ? '#ffffff' : '#14171c', 0.5);
  if (slot >= COLOR_COUNT)
    return (scheme === 'light' ? LIGHT_ACTIVITIES : DARK_ACTIVITIES)[slot - COLOR_COUNT]!;
  return (scheme === 'light' ? LIGHT : DARK)[slot]!;
}

/** Mixes `color` into `ground`, both `#rrggbb`; share 0 gives the ground, 1 the colour. */
export function mix(color: string, ground: string, share: number): string {
  const channel = (text: string, at: number) => Number.parseInt(text.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => {
    const value = Math.round(channel(color, at) * share + channel(ground, at) * (1 - share));
    return value.toString(16).padStart(2, '0');
  });
  return `#${mixed.join('')}`;
}

/** Returns black or white, whichever has more contrast on the colour. */
export function textOn(color: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => (Number.parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
  // Contrast with black and with white is equal at a luminance of 0.18.
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b! > 0.18 ? '#0b0d10' : '#ffffff';
}

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

/** Kinds of parts of the critical path that have another name than their action. */
const ACTION_OF: Readonly<Record<string, string>> = { disk: 'disk-read', serialization: 'serialize' };
const OTHERS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  compute: ['#2f6fed', '#6ea0ff'],
  'thread-cpu': ['#2f6fed', '#6ea0ff'],
  'thread-noncpu': ['#8fb3f7', '#3d62ad'],
  idle: ['#dfe3e9', '#333a45'],
  'waiting for a worker': ['#f5c451', '#caa03c'],
  'worker start': ['#e2d3a4', '#857a55'],
  paused: ['#c4553b', '#e07a5f'],
  recomputed: ['#8c2f5f', '#c46a9a'],
  'run without result': ['#a8324a', '#d9697f'],
  'waiting for the scheduler': ['#7b4fb5', '#a47bde'],
  await: ['#8fb3f7', '#3d62ad'],
  awaiting: ['#8fb3f7', '#3d62ad'],
  profiler: ['#9a8f7c', '#8d836f'],
  'client time': ['#4c9a8a', '#5fb8a5'],
  unknown: ['#dfe3e9', '#333a45'],
};
const FALLBACK_SLOTS = [3, 5, 7, 9, 11, 13, 15, 1] as const;

/** Programs choose names of activities, e.g. `constructor`, which every object inherits. */
function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns `#rrggbb` of an action, an activity or a kind of part of the critical path. */
export function kindColor(kind: string, scheme: Scheme): string {
  const action = ownValue(ACTION_OF, kind) ?? kind;
  const [, slot] = ownValue(ACTIVITIES, action) ?? [];
  if (slot !== undefined) return slotColor(slot, scheme);
  const other = ownValue(OTHERS, kind);
  if (other !== undefined) return other[scheme === 'light' ? 0 : 1];
  let hash = 0;
  for (let i = 0; i < kind.length; i++) hash = (hash * 31 + kind.charCodeAt(i)) >>> 0;
  return slotColor(FALLBACK_SLOTS[hash % FALLBACK_SLOTS.length]!, scheme);
}

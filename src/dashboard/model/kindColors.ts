// Colours of activities and waits. An activity has the same colour as in the task stream.
import { ACTIVITY_SLOTS, type Scheme, slotColor } from './palette.js';

const SLOTS: Readonly<Record<string, number>> = {
  transfer: ACTIVITY_SLOTS.gather,
  'disk-read': ACTIVITY_SLOTS.disk,
  'disk-write': ACTIVITY_SLOTS.disk,
  disk: ACTIVITY_SLOTS.disk,
  serialization: ACTIVITY_SLOTS.serialize,
  serialize: ACTIVITY_SLOTS.serialize,
  deserialize: ACTIVITY_SLOTS.serialize,
  compress: ACTIVITY_SLOTS.serialize,
  decompress: ACTIVITY_SLOTS.serialize,
  gc: ACTIVITY_SLOTS.gc,
};
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

/** Returns `#rrggbb` of an action, an activity or a kind of part of the critical path. */
export function kindColor(kind: string, scheme: Scheme): string {
  const slot = SLOTS[kind];
  if (slot !== undefined) return slotColor(slot, scheme);
  const other = OTHERS[kind];
  if (other !== undefined) return other[scheme === 'light' ? 0 : 1];
  let hash = 0;
  for (let i = 0; i < kind.length; i++) hash = (hash * 31 + kind.charCodeAt(i)) >>> 0;
  return slotColor(FALLBACK_SLOTS[hash % FALLBACK_SLOTS.length]!, scheme);
}

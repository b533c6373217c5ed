// The active callbacks of this process. A callback is active while it is registered, or activated for a block. This
// list has each callback once, however often it is activated.
import { getOrMake } from '../base/lookUps.js';

interface Entry {
  registered: boolean;
  /** Number of blocks for which the item is active. */
  activations: number;
}

const entries = new Map<object, Entry>();
let suspensions = 0;

function entryOf(item: object): Entry {
  return getOrMake(entries, item, () => ({ registered: false, activations: 0 }));
}

function dropIfUnused(item: object, entry: Entry): void {
  if (!entry.registered && entry.activations === 0) entries.delete(item);
}

/** Activates `item` until `unregisterItem`. A second call has no effect. */
export function registerItem(item: object): void {
  entryOf(item).registered = true;
}

/** Reverts `registerItem`. An item that is also activated for a block stays active. */
export function unregisterItem(item: object): void {
  const entry = entries.get(item);
  if (entry === undefined) return;
  entry.registered = false;
  dropIfUnused(item, entry);
}

/** Activates `item` until the returned function is called. Further calls of that function have no effect. */
export function activateItem(item: object): () => void {
  const entry = entryOf(item);
  entry.activations++;
  let active = true;
  return () => {
    if (!active) return;
    active = false;
    entry.activations--;
    dropIfUnused(item, entry);
  };
}

/** Returns the active items in the order of activation, without duplicates. Returns none during `suspended`. */
export function activeItems(): object[] {
  return suspensions > 0 ? [] : [...entries.keys()];
}

/** Runs `fn` without active items, because graphs that a task of a synchronous run computes are part of that task. */
export function suspended<R>(fn: () => R): R {
  suspensions++;
  try {
    return fn();
  } finally {
    suspensions--;
  }
}

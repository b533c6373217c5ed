// The process-wide list of what is active: registered until unregistered, or activated for a block. Callbacks are kept
// here rather than in their class so that every way of activating one ends in the same list, each entry once.
import { getOrMake } from '../base/lookUps.js';

interface Entry {
  registered: boolean;
  /** How many blocks hold it right now. */
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

/** Makes `item` active until `unregisterItem`. Registering twice is registering once. */
export function registerItem(item: object): void {
  entryOf(item).registered = true;
}

/** Undoes `registerItem`; does nothing to an item that is not registered, or that a block still holds. */
export function unregisterItem(item: object): void {
  const entry = entries.get(item);
  if (entry === undefined) return;
  entry.registered = false;
  dropIfUnused(item, entry);
}

/** Makes `item` active until the returned function is called; calling that again does nothing. */
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

/** What is active now, each once, in the order of activation; nothing inside `suspended`. */
export function activeItems(): object[] {
  return suspensions > 0 ? [] : [...entries.keys()];
}

/** Runs `fn` with nothing active: what a task of a synchronous run computes belongs to that task, not to the callbacks. */
export function suspended<R>(fn: () => R): R {
  suspensions++;
  try {
    return fn();
  } finally {
    suspensions--;
  }
}

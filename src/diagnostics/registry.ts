// The active callbacks of this process. A callback is active while it is registered, or activated for a block. This
// list has each callback once, however often it is activated.
import { getOrMake } from '../base/lookUps.js';

/** Why each item is active: a registration, and each block for which it is activated. */
const entries = new Map<object, Set<object>>();
const REGISTRATION = {};
let suspensions = 0;

function activate(item: object, reason: object): void {
  getOrMake(entries, item, () => new Set<object>()).add(reason);
}

function deactivate(item: object, reason: object): void {
  const reasons = entries.get(item);
  reasons?.delete(reason);
  if (reasons?.size === 0) entries.delete(item);
}

/** Activates `item` until `unregisterItem`. A second call has no effect. */
export function registerItem(item: object): void {
  activate(item, REGISTRATION);
}

/** Reverts `registerItem`. An item that is also activated for a block stays active. */
export function unregisterItem(item: object): void {
  deactivate(item, REGISTRATION);
}

/** Activates `item` until the returned function is called. Further calls of that function have no effect. */
export function activateItem(item: object): () => void {
  const block = {};
  activate(item, block);
  return () => deactivate(item, block);
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

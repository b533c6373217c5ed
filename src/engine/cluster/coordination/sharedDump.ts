// Shared objects in a dump of a cluster.
import type { SharedKind } from './sharedCalls.js';

/** A lock, semaphore, event, variable or queue with holders, items or waiting calls. */
export interface SharedDump {
  readonly what: SharedKind;
  readonly name: string;
  /** Holders of leases: keys of tasks, and names of clients. */
  readonly holders: readonly string[];
  readonly items: number;
  /** Calls that wait, the oldest first. */
  readonly waits: readonly SharedWait[];
}

interface SharedWait {
  /** Name of the method, e.g. `acquire`. */
  readonly method: string;
  /** Key of the task, or name of the client. */
  readonly caller: string;
  /** Seconds since the start of the call. */
  readonly age: number;
}

const MAX_NAMES = 3;

/** Returns a line such as `Lock 'a': held by task-1; waits: acquire of task-2 for 3.1 s`. */
export function sharedLine({ what, name, holders, items, waits }: SharedDump): string {
  const calls = waits.map(({ method, caller, age }) => `${method} of ${caller} for ${age} s`);
  const parts = [
    ...(holders.length === 0 ? [] : [`held by ${firstOf(holders)}`]),
    ...(what === 'Queue' ? [`${items} items`] : []),
    ...(calls.length === 0 ? [] : [`waits: ${firstOf(calls)}`]),
  ];
  return `${what} '${name}': ${parts.join('; ')}`;
}

function firstOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

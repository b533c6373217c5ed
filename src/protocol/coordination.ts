// The calls of shared objects: locks, semaphores, events, variables and queues. Their state lives in the process of the
// scheduler, see engine/cluster/coordination/. A running task sends a call as a question, see questions.ts. The main
// program calls directly. Objects of one class with equal names are the same object in the whole cluster.

import type { PackedResult } from './packedResult.js';

interface Named {
  readonly name: string;
}

/** A call that may wait. */
interface Waiting extends Named {
  /** Seconds after which the call ends without success. Undefined: no limit. */
  readonly timeout: number | undefined;
}

/** A lock is a semaphore with one lease. Locks and semaphores have separate names. */
export type LeaseKind = 'Lock' | 'Semaphore';

/** A value of the user, which the process of the scheduler does not unpack, or the key of a future. */
export type SharedValue = PackedResult | { readonly future: string };

/** Every call, with the types of question and answer. */
export interface CoordinationKinds {
  /** Waits for a lease. The answer is false at the time limit. */
  readonly 'lease-acquire': {
    readonly question: Waiting & { readonly what: LeaseKind; readonly max: number };
    readonly answer: boolean;
  };
  readonly 'lease-release': {
    readonly question: Named & { readonly what: LeaseKind };
    readonly answer: undefined;
  };
  /** Returns the number of leases in use. */
  readonly 'lease-count': {
    readonly question: Named & { readonly what: LeaseKind };
    readonly answer: number;
  };
  /** Waits until the event is set. The answer is false at the time limit. */
  readonly 'event-wait': { readonly question: Waiting; readonly answer: boolean };
  readonly 'event-is-set': { readonly question: Named; readonly answer: boolean };
  /** Sets or clears the event. */
  readonly 'event-change': {
    readonly question: Named & { readonly isSet: boolean };
    readonly answer: undefined;
  };
  /** Waits until the variable has a value. The answer is undefined at the time limit. */
  readonly 'variable-get': { readonly question: Waiting; readonly answer: SharedValue | undefined };
  readonly 'variable-set': {
    readonly question: Named & { readonly value: SharedValue };
    readonly answer: undefined;
  };
  readonly 'variable-delete': { readonly question: Named; readonly answer: undefined };
  /** Waits until the queue has fewer items than `maxSize`; 0: no limit. The answer is false at the time limit. */
  readonly 'queue-put': {
    readonly question: Waiting & { readonly value: SharedValue; readonly maxSize: number };
    readonly answer: boolean;
  };
  /** Waits for this number of items; undefined: takes all items at once. The answer is undefined at the time limit. */
  readonly 'queue-get': {
    readonly question: Waiting & { readonly count: number | undefined };
    readonly answer: readonly SharedValue[] | undefined;
  };
  readonly 'queue-size': { readonly question: Named; readonly answer: number };
}

export type CoordinationKind = keyof CoordinationKinds;

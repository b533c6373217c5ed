// The calls of shared objects: locks, semaphores, events, variables and queues. Their state lives in the process of the
// scheduler, see engine/cluster/coordination/. A running task sends a call as a question, see questions.ts. The main
// program calls directly. Objects of one class with equal names are the same object in the whole cluster.

/** Options of a call that may wait. */
interface Waiting {
  readonly name: string;
  /** Seconds after which the call ends without success. Undefined: no limit. */
  readonly timeout: number | undefined;
}

/** A lock is a semaphore with one lease. Locks and semaphores have separate names. */
export type LeaseKind = 'Lock' | 'Semaphore';

/** Every call, with the types of question and answer. */
export interface CoordinationKinds {
  /** Waits for a lease. The answer is false at the time limit. */
  readonly 'lease-acquire': {
    readonly question: Waiting & { readonly what: LeaseKind; readonly max: number };
    readonly answer: boolean;
  };
  readonly 'lease-release': {
    readonly question: { readonly what: LeaseKind; readonly name: string };
    readonly answer: undefined;
  };
  /** Returns the number of leases in use. */
  readonly 'lease-count': {
    readonly question: { readonly what: LeaseKind; readonly name: string };
    readonly answer: number;
  };
}

export type CoordinationKind = keyof CoordinationKinds;

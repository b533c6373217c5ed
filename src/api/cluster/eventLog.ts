// The events of a cluster by topic, logged by the engine and by programs.

import { inspect } from 'node:util';
import { isError } from '../../base/errors.js';
import { getOrMake } from '../../base/lookUps.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ClusterEvent, ClusterObserver } from '../../protocol/clusterObserver.js';

/** Maximum number of events per topic. */
const MAX_EVENTS = 10_000;

export interface LoggedEvent {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly topic: string;
  /** Index of the worker; -1 for the scheduler and for programs. */
  readonly worker: number;
  /** Logged value; a text for events of the cluster. */
  readonly message: unknown;
}

/** Topic of errors that observers throw, see `ClusterEngine.notify`. */
const OBSERVER_ERROR = 'observer-error';

export type EventHandler = (event: LoggedEvent) => void;

export class EventLog implements ClusterObserver {
  readonly #engine: ClusterEngine;
  readonly #byTopic = new Map<string, LoggedEvent[]>();
  /** Subscriptions by topic. Several may have the same handler. */
  readonly #handlers = new Map<string, Set<{ readonly handler: EventHandler }>>();
  /** The value that `log` is logging, because observers receive only its text. */
  #logged: { readonly message: unknown } | undefined;

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
    engine.observe(this);
  }

  log(topic: string, message: unknown): void {
    this.#logged = { message };
    try {
      this.#engine.event(topic, textOf(message));
    } finally {
      this.#logged = undefined;
    }
  }

  event({ time, topic, worker, text }: ClusterEvent): void {
    const message = this.#logged === undefined ? text : this.#logged.message;
    // A handler may log another event.
    this.#logged = undefined;
    const logged: LoggedEvent = { time, topic, worker, message };
    const events = getOrMake(this.#byTopic, topic, () => []);
    events.push(logged);
    if (events.length > MAX_EVENTS) events.splice(0, events.length - MAX_EVENTS / 2);
    const errors: unknown[] = [];
    for (const { handler } of this.#handlers.get(topic) ?? []) {
      try {
        handler(logged);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 0) return;
    // An event of the same topic would call the handler again, forever. The engine reports a thrown error to other
    // observers.
    if (topic === OBSERVER_ERROR) throw errors[0];
    for (const error of errors)
      this.#engine.event(OBSERVER_ERROR, isError(error) ? (error.stack ?? error.message) : String(error));
  }

  /** Events by topic, oldest first. */
  get topics(): Readonly<Record<string, readonly LoggedEvent[]>> {
    return Object.fromEntries(Array.from(this.#byTopic, ([topic, events]) => [topic, [...events]]));
  }

  of(topic: string): readonly LoggedEvent[] {
    return [...(this.#byTopic.get(topic) ?? [])];
  }

  subscribe(topic: string, handler: EventHandler): () => void {
    const subscription = { handler };
    const subscriptions = getOrMake(this.#handlers, topic, () => new Set()).add(subscription);
    return () => subscriptions.delete(subscription);
  }
}

/** Returns a text as is, and other values as JSON, or as the console shows them if they have no JSON, e.g. a bigint. */
function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  try {
    return JSON.stringify(message) ?? String(message);
  } catch {
    return inspect(message, { customInspect: false, breakLength: Number.POSITIVE_INFINITY });
  }
}

// The events of a cluster by topic: those of the engine, and what programs log.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ClusterEvent, ClusterObserver } from '../../protocol/clusterObserver.js';

/** Events of a topic that are held. */
const MAX_EVENTS = 10_000;

export interface LoggedEvent {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly topic: string;
  /** Index of the worker, -1 for the scheduler and for programs. */
  readonly worker: number;
  /** What was logged; of the cluster's own events a text. */
  readonly message: unknown;
}

export type EventHandler = (event: LoggedEvent) => void;

export class EventLog implements ClusterObserver {
  readonly #engine: ClusterEngine;
  readonly #byTopic = new Map<string, LoggedEvent[]>();
  readonly #handlers = new Map<string, Set<EventHandler>>();
  /** What is being logged: observers receive its text only. */
  #logged: { readonly message: unknown } | undefined;

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
    engine.observe(this);
  }

  log(topic: string, message: unknown): void {
    this.#logged = { message };
    try {
      this.#engine.event(
        topic,
        typeof message === 'string' ? message : (JSON.stringify(message) ?? String(message)),
      );
    } finally {
      this.#logged = undefined;
    }
  }

  event({ time, topic, worker, text }: ClusterEvent): void {
    const message = this.#logged === undefined ? text : this.#logged.message;
    // What a handler logs is an event of its own.
    this.#logged = undefined;
    const logged: LoggedEvent = { time, topic, worker, message };
    const events = this.#byTopic.get(topic) ?? [];
    this.#byTopic.set(topic, events);
    events.push(logged);
    if (events.length > MAX_EVENTS) events.splice(0, events.length - MAX_EVENTS / 2);
    for (const handler of this.#handlers.get(topic) ?? []) handler(logged);
  }

  /** Topic → its events, the oldest first. */
  get topics(): Readonly<Record<string, readonly LoggedEvent[]>> {
    return Object.fromEntries(Array.from(this.#byTopic, ([topic, events]) => [topic, [...events]]));
  }

  of(topic: string): readonly LoggedEvent[] {
    return [...(this.#byTopic.get(topic) ?? [])];
  }

  subscribe(topic: string, handler: EventHandler): () => void {
    const handlers = this.#handlers.get(topic) ?? new Set();
    this.#handlers.set(topic, handlers.add(handler));
    return () => handlers.delete(handler);
  }
}

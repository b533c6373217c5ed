// Collections of events, as DASF calls them: whatever can list its events can be analysed.
import { INSPECT } from '../base/printed.js';
import { addEvent } from './formats/dasf/dasfEventRows.js';
import type { DasfEvent } from './formats/dasf/dasfEvents.js';
import type { Trace } from './trace.js';
import { TraceBuilder } from './traceBuilder.js';

/** Something that holds events. */
export interface EventDatabase {
  /** All events in the order in which they were recorded. */
  getTraces(): Iterable<DasfEvent>;
  /** The same into columns, without making objects. Databases that have no faster way leave it out. */
  readInto?(builder: TraceBuilder): void;
}

/**
 * Several databases as one: iterates over the events of the first, then of the second, and so on.
 *
 * @source DASF, `MultiEventDatabase`
 */
export class MultiEventDatabase implements EventDatabase {
  readonly #databases: readonly EventDatabase[];

  constructor(databases: Iterable<EventDatabase>) {
    this.#databases = [...databases];
  }

  *[Symbol.iterator](): Iterator<DasfEvent> {
    for (const database of this.#databases) yield* database.getTraces();
  }

  getTraces(): Iterable<DasfEvent> {
    return this;
  }

  readInto(builder: TraceBuilder): void {
    for (const database of this.#databases) readDatabase(database, builder);
  }

  toString(): string {
    return `MultiEventDatabase with ${this.#databases.length} databases`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}

/** Adds the events of a database to what `builder` holds. */
export function readDatabase(database: EventDatabase, builder: TraceBuilder): void {
  if (database.readInto !== undefined) {
    database.readInto(builder);
    return;
  }
  for (const event of database.getTraces()) {
    addEvent(builder, event);
    builder.eventCount++;
  }
}

/** The columns of a database. */
export function traceOf(database: EventDatabase): Trace {
  const builder = new TraceBuilder();
  readDatabase(database, builder);
  return builder.build();
}

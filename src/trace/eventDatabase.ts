// Event databases, as DASF calls them: any object that lists its events can be analysed.
import { checkArgument, objectWith } from '../base/arguments.js';
import { Printed } from '../base/printed.js';
import { addEvent } from './formats/dasf/dasfEventRows.js';
import type { DasfEvent } from './formats/dasf/dasfEvents.js';
import type { Trace } from './trace.js';
import { TraceBuilder } from './traceBuilder.js';

export interface EventDatabase {
  /** Returns all events in the order in which they were recorded. */
  getTraces(): Iterable<DasfEvent>;
  /**
   * Adds all events to the columns of `builder` without creating objects. Optional; the default reads `getTraces()`.
   */
  readInto?(builder: TraceBuilder): void;
}

/**
 * Presents several databases as one: the events of the first, then those of the second, and so on.
 *
 * @source DASF, `MultiEventDatabase`
 */
export class MultiEventDatabase extends Printed implements EventDatabase {
  readonly #databases: readonly EventDatabase[];

  constructor(databases: Iterable<EventDatabase>) {
    super();
    this.#databases = [...databases];
    for (const database of this.#databases)
      checkArgument(
        'MultiEventDatabase: databases',
        database,
        objectWith('databases of events', 'getTraces'),
      );
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

  override toString(): string {
    return `MultiEventDatabase with ${this.#databases.length} databases`;
  }
}

export function readDatabase(database: EventDatabase, builder: TraceBuilder): void {
  if (database.readInto !== undefined) database.readInto(builder);
  else for (const event of database.getTraces()) addEvent(builder, event);
}

export function traceOf(database: EventDatabase): Trace {
  const builder = new TraceBuilder();
  readDatabase(database, builder);
  return builder.build();
}

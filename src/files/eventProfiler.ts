// DASF's EventProfiler: events by method, kept in a database.

import { randomUUID } from 'node:crypto';
import { checkArgument, checkOptions, kind, type OptionKinds, objectWith, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { Printed } from '../base/printed.js';
import { type EventDatabase, readDatabase } from '../trace/eventDatabase.js';
import {
  CompleteEvent,
  type DasfEvent,
  DurationBeginEvent,
  DurationEndEvent,
  type EventFields,
  InstantEvent,
} from '../trace/formats/dasf/dasfEvents.js';
import type { TraceBuilder } from '../trace/traceBuilder.js';
import { FILE_DATABASE_OPTIONS, FileDatabase, type FileDatabaseOptions } from './fileDatabase.js';

/** A database that accepts events. */
export interface WritableEventDatabase extends EventDatabase {
  record(event: DasfEvent): void;
  commit(): void;
  close?(): void;
}

export interface EventProfilerOptions extends FileDatabaseOptions {
  /** Database for the events, instead of a file of the profiler. */
  readonly database?: WritableEventDatabase | undefined;
}

const OPTIONS: OptionKinds<EventProfilerOptions> = {
  ...FILE_DATABASE_OPTIONS,
  database: objectWith('a database of events', 'record', 'getTraces', 'commit'),
};

const ORIGIN = kind(
  'a text, a number or null',
  (value) => value === null || typeof value === 'string' || typeof value === 'number',
);
const FIELDS: OptionKinds<EventFields> = {
  processId: ORIGIN,
  threadId: ORIGIN,
  args: objectWith('an object'),
};
const INSTANT_FIELDS: OptionKinds<EventFields & { scope?: string }> = { ...FIELDS, scope: TEXT };

/** A profiler writes sooner than a database alone, as in DASF. */
const COMMIT_THRESHOLD = 1000;

/**
 * Records events. Times are in seconds on any clock, as long as all events of a trace use the same. The methods that record
 * an event throw ERR_LONGPOLE_INVALID_ARGUMENT for an unknown field, and the errors of the database.
 *
 * @source DASF, `EventProfiler`
 */
export class EventProfiler extends Printed implements EventDatabase {
  readonly database: WritableEventDatabase;

  /**
   * Opens the events of the file with this name. Without a name and without a database, creates
   * `traces-XXXXXXXX.msgpack` in the current folder. The other options are those of the file's `FileDatabase`, with a
   * `commitThreshold` of 1000. Throws ERR_LONGPOLE_INVALID_ARGUMENT if both a file and a database are given.
   */
  constructor(databaseFile?: string | EventProfilerOptions, options: EventProfilerOptions = {}) {
    super();
    const given = typeof databaseFile === 'object' ? databaseFile : options;
    const file = typeof databaseFile === 'string' ? databaseFile : undefined;
    if (databaseFile !== undefined && given !== databaseFile)
      checkArgument('EventProfiler: databaseFile', databaseFile, TEXT);
    checkOptions('EventProfiler', given, OPTIONS);
    if (file !== undefined && given.database !== undefined) {
      throw invalidArgument(`Events go either to ${file} or to the database that was given, not to both.`);
    }
    const { database, commitThreshold = COMMIT_THRESHOLD, ...others } = given;
    const name = file ?? `traces-${randomUUID().slice(0, 8)}.msgpack`;
    this.database = database ?? new FileDatabase(name, { ...others, commitThreshold });
  }

  /** Records an action of `duration` seconds. DASF's own recorders pass the time of its end. */
  recordCompleteEvent(name: string, timestamp: number, duration: number, fields?: EventFields): void {
    this.#record(new CompleteEvent(name, timestamp, duration, fields), fields);
  }

  recordInstantEvent(name: string, timestamp: number, fields?: EventFields & { scope?: string }): void {
    this.#record(new InstantEvent(name, timestamp, fields), fields, INSTANT_FIELDS);
  }

  recordDurationBeginEvent(name: string, timestamp: number, fields?: EventFields): void {
    this.#record(new DurationBeginEvent(name, timestamp, fields), fields);
  }

  recordDurationEndEvent(name: string, timestamp: number, fields?: EventFields): void {
    this.#record(new DurationEndEvent(name, timestamp, fields), fields);
  }

  #record(event: DasfEvent, fields: EventFields | undefined, known: OptionKinds<EventFields> = FIELDS): void {
    checkOptions('EventProfiler', fields, known);
    this.database.record(event);
  }

  /** Yields the recorded events in order; for a file, its events and then the queued ones. */
  getTraces(): Iterable<DasfEvent> {
    return this.database.getTraces();
  }

  /** Writes the queued events. */
  commit(): void {
    this.database.commit();
  }

  /** Writes the queued events, like the database when it is closed. */
  close(): void {
    this.database.close?.();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  readInto(builder: TraceBuilder): void {
    readDatabase(this.database, builder);
  }

  override toString(): string {
    return `EventProfiler(database=${String(this.database)})`;
  }
}

// DASF's events: those of the Chrome Trace Event Format with times in seconds. In files the fields are named process_id
// and thread_id and have the order of DASF's dataclasses.
import { visibleText } from '../../../base/visibleText.js';

/** Phases of DASF. Events of four phases have a class of their own; the others are `PhaseEvent`s. */
export const EventPhases = {
  COMPLETE: 'X',
  DURATION_BEGIN: 'B',
  DURATION_END: 'E',
  INSTANT: 'I',
  ASYNC_BEGIN: 'b',
  ASYNC_INSTANT: 'n',
  ASYNC_END: 'e',
  FLOW_BEGIN: 's',
  FLOW_STEP: 't',
  FLOW_END: 'f',
  COUNTER: 'C',
  OBJECT_CREATED: 'N',
  OBJECT_SNAPSHOT: 'O',
  OBJECT_DESTROYED: 'D',
  METADATA: 'M',
  MARK: 'R',
} as const;

/** Scope of an instant event: the whole trace, a process or a thread. */
export const InstantEventScope = { GLOBAL: 'g', PROCESS: 'p', THREAD: 't' } as const;

/** Recorder of an event: the name of the host and of the worker in DASF; null if there is none. */
export type EventOrigin = string | number | null;

/** Further properties of an event; all values of msgpack are allowed. */
export type EventArgs = Record<string, unknown>;

/** Name of DASF's resource monitor events. */
export const RESOURCE_EVENT = 'Resource Usage';

/** Optional properties of an event. */
export interface EventFields {
  /** Default 0, as in DASF. */
  readonly processId?: EventOrigin;
  /** Default 0, as in DASF. */
  readonly threadId?: EventOrigin;
  readonly args?: EventArgs;
}

/** An event of any phase. `timestamp` is in seconds on the recorder's clock. */
export class PhaseEvent {
  readonly name: string;
  readonly timestamp: number;
  /** One of `EventPhases`, or another text from a file. */
  readonly phase: string;
  readonly processId: EventOrigin;
  readonly threadId: EventOrigin;
  readonly args: EventArgs;

  constructor(phase: string, name: string, timestamp: number, fields: EventFields = {}) {
    this.name = name;
    this.timestamp = timestamp;
    this.phase = phase;
    this.processId = fields.processId === undefined ? 0 : fields.processId;
    this.threadId = fields.threadId === undefined ? 0 : fields.threadId;
    this.args = fields.args ?? {};
  }

  /** Returns e.g. `CompleteEvent(name: "fit", timestamp: 12.5, …)`. */
  toString(): string {
    const written = (value: unknown): string =>
      JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? Number(part) : part));
    const fields = Object.entries(this).map(([name, value]) => `${name}: ${written(value)}`);
    return visibleText(`${this.constructor.name}(${fields.join(', ')})`);
  }
}

/** An event with a `duration` in seconds. In DASF's traces `timestamp` is its end. */
export class CompleteEvent extends PhaseEvent {
  readonly duration: number;

  constructor(name: string, timestamp: number, duration: number, fields: EventFields = {}) {
    super(EventPhases.COMPLETE, name, timestamp, fields);
    this.duration = duration;
  }
}

/** An event without a duration. */
export class InstantEvent extends PhaseEvent {
  /** One of `InstantEventScope`; default `g`. */
  readonly scope: string;

  constructor(name: string, timestamp: number, fields: EventFields & { readonly scope?: string } = {}) {
    super(EventPhases.INSTANT, name, timestamp, fields);
    this.scope = fields.scope ?? InstantEventScope.GLOBAL;
  }
}

/** The start of a duration that ends with a `DurationEndEvent`. */
export class DurationBeginEvent extends PhaseEvent {
  constructor(name: string, timestamp: number, fields: EventFields = {}) {
    super(EventPhases.DURATION_BEGIN, name, timestamp, fields);
  }
}

/** The end of a duration. Written with phase `E`; DASF writes `B`, as for the start. */
export class DurationEndEvent extends PhaseEvent {
  constructor(name: string, timestamp: number, fields: EventFields = {}) {
    super(EventPhases.DURATION_END, name, timestamp, fields);
  }
}

export type DasfEvent = CompleteEvent | InstantEvent | DurationBeginEvent | DurationEndEvent | PhaseEvent;

/** Returns the event of a decoded record, or the reason why the record is invalid. */
export function eventFromRecord(record: unknown): DasfEvent | string {
  if (!isRecord(record)) return 'the record is not a map';
  const { name, timestamp, phase, duration, scope, process_id, thread_id, args } = record;
  if (typeof name !== 'string') return 'the event has no name';
  const time = asNumber(timestamp);
  if (!Number.isFinite(time)) return 'the event has no time';
  if (typeof phase !== 'string') return 'the event has no phase';
  const fields = {
    processId: asOrigin(process_id),
    threadId: asOrigin(thread_id),
    args: !isRecord(args) ? {} : name === RESOURCE_EVENT ? knownFigures(args) : args,
  };
  switch (phase) {
    case EventPhases.COMPLETE: {
      const seconds = asNumber(duration);
      if (!Number.isFinite(seconds)) return 'the complete event has no duration';
      return new CompleteEvent(name, time, seconds, fields);
    }
    case EventPhases.INSTANT:
      return new InstantEvent(name, time, typeof scope === 'string' ? { ...fields, scope } : fields);
    case EventPhases.DURATION_BEGIN:
      return new DurationBeginEvent(name, time, fields);
    case EventPhases.DURATION_END:
      return new DurationEndEvent(name, time, fields);
    default:
      return new PhaseEvent(phase, name, time, fields);
  }
}

/** Replaces NaN by null. Unknown figures are NaN in files, because DASF computes with them. */
function knownFigures(args: EventArgs): EventArgs {
  let known = args;
  for (const name in args) {
    if (!Number.isNaN(args[name])) continue;
    if (known === args) known = { ...args };
    known[name] = null;
  }
  return known;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** Returns a number or bigint as a number, and NaN for other values. */
export function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : Number.NaN;
}

function asOrigin(value: unknown): EventOrigin {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : null;
}

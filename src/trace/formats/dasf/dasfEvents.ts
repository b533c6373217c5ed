// DASF's events: those of the Chrome Trace Event Format, with seconds for times. On disk the fields are called
// process_id and thread_id and stand in the order of DASF's dataclasses.

/** Every phase that DASF names. Events of four of them have a class of their own, the others are `PhaseEvent`s. */
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

/** How far an instant event reaches: the whole trace, one process, one thread. */
export const InstantEventScope = { GLOBAL: 'g', PROCESS: 'p', THREAD: 't' } as const;

/** Who recorded an event: for DASF the host's name, and the worker's; null where there is none. */
export type EventOrigin = string | number | null;

/** Whatever else the event says; anything that msgpack can hold. */
export type EventArgs = Record<string, unknown>;

/** The name of DASF's events of a resource monitor. */
export const RESOURCE_EVENT = 'Resource Usage';

/** What an event may have beside its name and time. */
export interface EventFields {
  /** Default 0, as in DASF. */
  readonly processId?: EventOrigin;
  /** Default 0, as in DASF. */
  readonly threadId?: EventOrigin;
  readonly args?: EventArgs;
}

/** An event of any phase. `timestamp` is in seconds on the recorder's own clock. */
export class PhaseEvent {
  readonly name: string;
  readonly timestamp: number;
  /** One of `EventPhases`, or whatever a file says. */
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

  /** E.g. `CompleteEvent(name: "fit", timestamp: 12.5, …)`. */
  toString(): string {
    const written = (value: unknown): string =>
      JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? Number(part) : part));
    const fields = Object.entries(this).map(([name, value]) => `${name}: ${written(value)}`);
    return `${this.constructor.name}(${fields.join(', ')})`;
  }
}

/** Something that took `duration` seconds. In DASF's own traces `timestamp` is when it ended. */
export class CompleteEvent extends PhaseEvent {
  readonly duration: number;

  constructor(name: string, timestamp: number, duration: number, fields: EventFields = {}) {
    super(EventPhases.COMPLETE, name, timestamp, fields);
    this.duration = duration;
  }
}

/** Something without duration. */
export class InstantEvent extends PhaseEvent {
  /** One of `InstantEventScope`; default `g`. */
  readonly scope: string;

  constructor(name: string, timestamp: number, fields: EventFields & { readonly scope?: string } = {}) {
    super(EventPhases.INSTANT, name, timestamp, fields);
    this.scope = fields.scope ?? InstantEventScope.GLOBAL;
  }
}

/** The begin of something whose end is an event of its own. */
export class DurationBeginEvent extends PhaseEvent {
  constructor(name: string, timestamp: number, fields: EventFields = {}) {
    super(EventPhases.DURATION_BEGIN, name, timestamp, fields);
  }
}

/** The end of what a `DurationBeginEvent` began. Written with phase `E`; DASF writes `B`, and then cannot tell them apart. */
export class DurationEndEvent extends PhaseEvent {
  constructor(name: string, timestamp: number, fields: EventFields = {}) {
    super(EventPhases.DURATION_END, name, timestamp, fields);
  }
}

export type DasfEvent = CompleteEvent | InstantEvent | DurationBeginEvent | DurationEndEvent | PhaseEvent;

interface EventRecord {
  readonly name?: unknown;
  readonly timestamp?: unknown;
  readonly phase?: unknown;
  readonly duration?: unknown;
  readonly scope?: unknown;
  readonly process_id?: unknown;
  readonly thread_id?: unknown;
  readonly args?: unknown;
}

/** The event that a decoded record describes, or what is wrong with the record. */
export function eventFromRecord(record: unknown): DasfEvent | string {
  if (!isRecord(record)) return 'the record is no map';
  const { name, timestamp, phase, duration, scope, process_id, thread_id, args }: EventRecord = record;
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

/** What a monitor does not know stands in files as NaN, because DASF computes with it, and is null everywhere else. */
function knownFigures(args: EventArgs): EventArgs {
  let known = args;
  for (const name in args) {
    if (!Number.isNaN(args[name])) continue;
    if (known === args) known = { ...args };
    known[name] = null;
  }
  return known;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** A number of any size, or NaN. */
export function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : Number.NaN;
}

function asOrigin(value: unknown): EventOrigin {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : null;
}

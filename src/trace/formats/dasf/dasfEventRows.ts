// Converts event objects to rows: events that a program created, and records in an unusual form.
import type { Encoded } from '../../../protocol/traceSchema.js';
import type { TraceBuilder } from '../../traceBuilder.js';
import { FieldNames } from '../json/jsonFields.js';
import {
  asNumber,
  CompleteEvent,
  type DasfEvent,
  type EventArgs,
  type EventOrigin,
  RESOURCE_EVENT,
} from './dasfEvents.js';

const ABSENT = -1;

/** Fields of `args`, some of which have a column. */
type KnownArgs = { readonly [K in keyof typeof Field | 'device']?: unknown };

/** Counts an event, and adds the row of a task, of managed memory or of a resource sample. */
export function addEvent(builder: TraceBuilder, event: DasfEvent): void {
  const { strings } = builder;
  builder.eventCount++;
  const text = (value: unknown): number => (typeof value === 'string' ? strings.internString(value) : ABSENT);
  const origin = (value: EventOrigin): number =>
    value === null ? ABSENT : strings.internString(String(value));
  const host = origin(event.processId);
  const worker = origin(event.threadId);
  const args: KnownArgs = event.args;
  if (event.name === 'Compute' && event instanceof CompleteEvent && args.key !== undefined) {
    pushKeys(builder, builder.dependencies, args.dependencies);
    pushKeys(builder, builder.dependents, args.dependents);
    builder.addTask({
      key: strings.internString(keyText(args.key)),
      recordedName: text(args.name),
      host,
      worker,
      device: device(builder, args.device),
      stop: event.timestamp,
      duration: Math.max(0, event.duration),
      nbytes: asNumber(args.size),
      resultType: text(args.type),
      dtype: text(args.dtype),
      shape: strings.internString(shapeText(args.shape)),
    });
  } else if (event.name === 'Managed Memory' && !Number.isNaN(asNumber(args.tasks))) {
    const row = builder.workers.of(host, worker);
    builder.memory.add(managedMemory(event.timestamp, host, row, asNumber(args.size), asNumber(args.tasks)));
  } else if (event.name === RESOURCE_EVENT) {
    builder.resources.add(
      {
        time: event.timestamp,
        host,
        worker: builder.workers.of(host, worker),
        device: device(builder, args.device),
      },
      numbersOf(event.args),
    );
  }
}

/** Returns a row of memory. DASF records only managed memory. */
export function managedMemory(
  time: number,
  host: number,
  worker: number,
  managed: number,
  tasks: number,
): Encoded<'memory'> {
  const unknown = Number.NaN;
  return { time, host, worker, managed, unmanaged: unknown, spilled: unknown, process: unknown, tasks };
}

/** Returns a shape as JSON. */
export function shapeText(shape: unknown): string {
  return Array.isArray(shape) ? JSON.stringify(shape.map(Number)) : '[]';
}

function device(builder: TraceBuilder, value: unknown): number {
  return typeof value === 'string' || typeof value === 'number'
    ? builder.strings.internString(String(value))
    : ABSENT;
}

function pushKeys(builder: TraceBuilder, column: { push(id: number): void }, keys: unknown): void {
  if (!Array.isArray(keys)) return;
  for (const key of keys) column.push(builder.strings.internString(keyText(key)));
}

/** Returns the text of a key. Tuple keys, which are arrays in msgpack, are spelled as in Python: `('x', 0, 1)`. */
function keyText(key: unknown): string {
  if (typeof key === 'string') return key;
  if (!Array.isArray(key)) return String(key);
  const items = key.map((item: unknown) => (typeof item === 'string' ? `'${item}'` : keyText(item)));
  return `(${items.join(', ')}${items.length === 1 ? ',' : ''})`;
}

function numbersOf(args: EventArgs): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const [name, value] of Object.entries(args)) {
    const number = asNumber(value);
    if (!Number.isNaN(number) && name !== 'device') numbers.set(name, number);
  }
  return numbers;
}

/** Numbers that `fieldAt` returns. */
export const Field = {
  name: 0,
  timestamp: 1,
  duration: 2,
  phase: 3,
  scope: 4,
  process_id: 5,
  thread_id: 6,
  args: 7,
  key: 8,
  state: 9,
  size: 10,
  shape: 11,
  dtype: 12,
  type: 13,
  dependencies: 14,
  dependents: 15,
  tasks: 16,
} as const;

const FIELDS = new FieldNames(Object.keys(Field));

/**
 * Returns the field whose name, a msgpack string of at most 31 bytes, begins at `at`. Returns -1 for unknown or
 * truncated names.
 */
export function fieldAt(bytes: Uint8Array, at: number, end: number): number {
  const length = bytes[at]! - 0xa0;
  return length > 0 && length < 32 && at + 1 + length <= end ? FIELDS.at(bytes, at + 1, at + 1 + length) : -1;
}

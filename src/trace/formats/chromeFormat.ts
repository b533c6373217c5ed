// What Longpole's own Chrome traces say beyond the format: names that the writer and the reader share. Viewers show these
// arguments with an event and ignore the metadata, so that a trace that went through one loses nothing.

/** Categories of Longpole's own complete events; one for each table. */
export const TASK_CATEGORY = 'task';
export const INTERVAL_CATEGORY = 'interval';
export const TRANSFER_CATEGORY = 'transfer';

/** Metadata events of Longpole's own. The first is the first event of the file, the others stand before all rows. */
export const ORIGIN_EVENT = 'longpole_trace';
export const WORKER_EVENT = 'longpole_worker';
export const HOST_EVENT = 'longpole_host';
export const THREAD_EVENT = 'longpole_thread';
export const COMPUTATION_EVENT = 'longpole_computation';

/** Of counters that are rows of the memory table; figures of other tables may have the same names. */
export const MEMORY_CATEGORY = 'memory';
/** Counters that are rows of the memory table: name of the counter → its series, columns of the table. */
export const MEMORY_COUNTERS = {
  memory: ['managed', 'unmanaged', 'spilled'],
  'process memory': ['process'],
  'results in memory': ['tasks'],
} as const;
export type MemoryFigure = (typeof MEMORY_COUNTERS)[keyof typeof MEMORY_COUNTERS][number];

/** Arguments of events that are looked at, as numbers; all but `name` and `text` are Longpole's own. */
export const Arg = {
  key: 0,
  id: 1,
  prefix: 2,
  group: 3,
  span: 4,
  computation: 5,
  state: 6,
  attempt: 7,
  submitted: 8,
  ready: 9,
  dispatched: 10,
  received: 11,
  acknowledged: 12,
  stopped: 13,
  duration: 14,
  nbytes: 15,
  type: 16,
  dtype: 17,
  shape: 18,
  device: 19,
  recorded: 20,
  dependencies: 21,
  dependents: 22,
  name: 23,
  origin: 24,
  host: 25,
  address: 26,
  pid: 27,
  threads: 28,
  memoryLimit: 29,
  started: 30,
  reason: 31,
  thread: 32,
  task: 33,
  peer: 34,
  direction: 35,
  what: 36,
  compressed: 37,
  keys: 38,
  firstId: 39,
  size: 40,
  start: 41,
  client: 42,
  code: 43,
  text: 44,
} as const;

/**
 * Times are microseconds since the trace's origin, a whole second: numbers stay short, and for times since the epoch
 * reading them gives the very same float64. Whatever that would not restore is written as exact seconds, in quotes.
 */
export function secondsOf(microseconds: number, origin: number): number {
  return origin + microseconds / 1e6;
}

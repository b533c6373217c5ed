// `longpole/trace`: traces on disk. Event files in DASF's form, written and read.
export type { EventProfilerOptions, WritableEventDatabase } from '../files/eventProfiler.js';
export { EventProfiler } from '../files/eventProfiler.js';
export type { FileDatabaseOptions } from '../files/fileDatabase.js';
export { FileDatabase } from '../files/fileDatabase.js';
export { openTrace } from '../files/openTrace.js';
export type { EventDatabase } from '../trace/eventDatabase.js';
export { MultiEventDatabase } from '../trace/eventDatabase.js';
export type { DasfEvent, EventArgs, EventFields, EventOrigin } from '../trace/formats/dasfEvents.js';
export {
  CompleteEvent,
  DurationBeginEvent,
  DurationEndEvent,
  EventPhases,
  InstantEvent,
  InstantEventScope,
  PhaseEvent,
} from '../trace/formats/dasfEvents.js';
export type { MemoryRows, ResourceRows, TaskRows, Trace, TraceDamage } from '../trace/trace.js';

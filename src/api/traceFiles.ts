// Files of traces for the command line: the part of `longpole/trace` that most commands need, loaded in half the time.
export { openTrace } from '../files/openTrace.js';
export { type OpenedTrace, openTraces } from '../files/openTraces.js';
export { TraceWriter } from '../files/traceWriter.js';
export type { Trace, TraceDamage } from '../trace/trace.js';

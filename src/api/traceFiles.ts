// The part of `longpole/trace` that most commands need. It loads in half the time of the whole module.
export { openTrace } from '../files/openTrace.js';
export { type OpenedTrace, openTraces } from '../files/openTraces.js';
export { describeTrace } from '../files/traceDirectory.js';
export { damageText } from '../protocol/traceDamage.js';
export type { Trace, TraceAbout, TraceDamage } from '../trace/trace.js';

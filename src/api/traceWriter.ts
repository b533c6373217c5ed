// The part of `longpole/trace` that only records. `traceFiles.ts` also loads the readers of all formats.
export { TraceWriter } from '../files/traceWriter.js';

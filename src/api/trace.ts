// `longpole/trace`: records, opens, exports and shows traces; reads and writes DASF's event files.

export type { DaskSecurity } from '../dask/schedulerAddress.js';
export type { EventProfilerOptions, WritableEventDatabase } from '../files/eventProfiler.js';
export { EventProfiler } from '../files/eventProfiler.js';
export type { FileDatabaseOptions } from '../files/fileDatabase.js';
export { FileDatabase } from '../files/fileDatabase.js';
export type { OpenTraceOptions } from '../files/openTrace.js';
export { openTrace } from '../files/openTrace.js';
export type { OpenedTrace } from '../files/openTraces.js';
export { openTraces } from '../files/openTraces.js';
export type { TraceWriterOptions } from '../files/traceWriter.js';
export { TraceWriter } from '../files/traceWriter.js';
export type { OperatorContext } from '../pipeline/operator.js';
export type { PipelineOptions, Sources, StepOptions } from '../pipeline/pipeline.js';
export type { ClusterObserver } from '../protocol/clusterObserver.js';
export type { DashboardServer } from '../server/dashboardServer.js';
export type { EventDatabase } from '../trace/eventDatabase.js';
export { MultiEventDatabase } from '../trace/eventDatabase.js';
export type { DasfEvent, EventArgs, EventFields, EventOrigin } from '../trace/formats/dasf/dasfEvents.js';
export {
  CompleteEvent,
  DurationBeginEvent,
  DurationEndEvent,
  EventPhases,
  InstantEvent,
  InstantEventScope,
  PhaseEvent,
} from '../trace/formats/dasf/dasfEvents.js';
export type {
  ActionTotals,
  MetricTotals,
  PairTotals,
  PrefixTotals,
  TraceTotals,
} from '../trace/totals.js';
export { bucketStart, DURATION_BUCKETS } from '../trace/totals.js';
export type {
  EventRows,
  EvictedRows,
  IntervalRows,
  MemoryRows,
  MetricRows,
  ResourceRows,
  TaskRows,
  Trace,
  TraceAbout,
  TraceComputation,
  TraceDamage,
  TransferRows,
  WorkerRows,
} from '../trace/trace.js';
export type { ObserveDaskOptions } from './dask.js';
export { DaskObservation, observeDask } from './dask.js';
export type { Exporter, Pieces } from './exporters.js';
export { EXPORTERS } from './exporters.js';
export type { ExportTraceOptions } from './exportTrace.js';
export { exportTrace } from './exportTrace.js';
export { observeProgram } from './observeProgram.js';
export type { PipelineConstructorOptions } from './pipeline.js';
export { Pipeline } from './pipeline.js';
export type { DefaultProfiler, DefaultProfilerOptions } from './registerDefaultProfiler.js';
export { registerDefaultProfiler } from './registerDefaultProfiler.js';
export type { ViewTraceOptions } from './viewTrace.js';
export { viewTrace } from './viewTrace.js';

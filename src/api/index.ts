// `longpole`: defines tasks and runs them.

export type { ErrorCode } from '../base/errors.js';
export { KilledWorkerError, LongpoleError, TaskError } from '../base/errors.js';
export { keySplit } from '../base/keySplit.js';
export type { SettingName, Settings } from '../base/settings.js';
export type {
  AlignOptions,
  ClusterMemory,
  MemoryMeasure,
  MemoryPoint,
  MemorySource,
  SampleOptions,
} from '../diagnostics/memorySampler.js';
export { MemorySampler } from '../diagnostics/memorySampler.js';
export type { ProgressBarOptions } from '../diagnostics/progressBar.js';
export type { Span } from '../diagnostics/span.js';
export { span } from '../diagnostics/span.js';
export type { ClusterDump, TaskDump, WorkerDump } from '../engine/cluster/clusterDump.js';
export type { SharedDump } from '../engine/cluster/coordination/sharedDump.js';
export type { SchedulerPlugin, TransitionInfo } from '../engine/cluster/schedulerPlugins.js';
export type { WorkerSnapshot } from '../engine/host/hostTypes.js';
export type { SpanSummary } from '../engine/metrics/spans.js';
export { secede } from '../engine/worker/askScheduler.js';
export type { ContextMeter, Meter } from '../engine/worker/contextMeter.js';
export { contextMeter } from '../engine/worker/contextMeter.js';
export type { WorkerPlugin, WorkerPluginSpec, WorkerTaskState } from '../engine/worker/workerPlugins.js';
export type { ArrowTable } from '../graph/arrowTable.js';
export { arrowTable } from '../graph/arrowTable.js';
export type {
  AbortSignalLike,
  ComputeOptions,
  LocalOptions,
  SchedulerName,
} from '../graph/computeOptions.js';
export type { Annotations } from '../graph/definedWith.js';
export type { Input } from '../graph/input.js';
export { key } from '../graph/key.js';
export { literal } from '../graph/literal.js';
export type { PythonFunction } from '../graph/pythonFunction.js';
export { python } from '../graph/pythonFunction.js';
export type { TaskFunction, TaskOptions } from '../graph/taskFunction.js';
export { delayed } from '../graph/taskFunction.js';
export { tasks } from '../graph/tasks.js';
export type { CallTree, FrameDescription } from '../profile/callTree.js';
export type { ClusterTaskOptions } from '../protocol/clientQuestions.js';
export type { StartStop } from '../protocol/clusterObserver.js';
export type { Graph, Keys } from '../protocol/graph.js';
export type { Trace } from '../trace/trace.js';
export { annotate } from './annotate.js';
export type { AdaptOptions } from './cluster/adaptive.js';
export type { AsCompletedOptions, Waited, WaitOptions } from './cluster/asCompleted.js';
export { AsCompleted, asCompleted, wait } from './cluster/asCompleted.js';
export { Client } from './cluster/client.js';
export type { NbytesOptions } from './cluster/clientCalls.js';
export type { ProfileOptions } from './cluster/clientMeasures.js';
export type { ScatterOptions, SubmitOptions } from './cluster/clientOptions.js';
export type { LocalClusterOptions } from './cluster/clusterOptions.js';
export type { ConnectOptions, DaskConnectOptions } from './cluster/connect.js';
export { connect } from './cluster/connect.js';
export type { EventHandler, LoggedEvent } from './cluster/eventLog.js';
export type { ScatteredFuture } from './cluster/future.js';
export { Future } from './cluster/future.js';
export { getClient } from './cluster/getClient.js';
export { LocalCluster } from './cluster/localCluster.js';
export { progress } from './cluster/progress.js';
export type { SchedulerInfo, SchedulerView, WorkerSummary } from './cluster/schedulerView.js';
export type { TaskClient } from './cluster/taskClient.js';
export type { TaskStreamOptions, TaskStreamRow } from './cluster/taskStream.js';
export { compute } from './compute.js';
export type { Computed } from './computed.js';
export type { ConfigOptions } from './config.js';
export { Config, config } from './config.js';
export { Event } from './coordination/event.js';
export type { Lease } from './coordination/leasedObject.js';
export type { AcquireOptions } from './coordination/lock.js';
export { Lock } from './coordination/lock.js';
export type { GetOptions, QueueOptions } from './coordination/queue.js';
export { Queue } from './coordination/queue.js';
export type { SemaphoreOptions } from './coordination/semaphore.js';
export { Semaphore } from './coordination/semaphore.js';
export type { Received, SharedOptions, TimeoutOptions } from './coordination/sharedObject.js';
export { Variable } from './coordination/variable.js';
export type { DashboardOptions } from './dashboardOptions.js';
export type { GraphDrawingOptions } from './delayedGraph.js';
export type { PerformanceReport, PerformanceReportOptions } from './performanceReport.js';
export { performanceReport } from './performanceReport.js';
export { Delayed } from './persist.js';

// `longpole/analysis`: analyses of a trace, and the tables that they return.
export type { AnnotatedTaskGraph } from '../analysis/annotatedTaskGraph.js';
export { computationCount } from '../analysis/computationCount.js';
export type {
  CriticalPath,
  CriticalPathOptions,
  PathColumns,
  PathKind,
  PathPart,
  PathPrefix,
} from '../analysis/criticalPath.js';
export { criticalPath } from '../analysis/criticalPath.js';
export { cutOffTexts } from '../analysis/cutOff.js';
export type { Diff, DiffKind, DiffOptions, DiffRow, Verdict } from '../analysis/diff/diff.js';
export { diff } from '../analysis/diff/diff.js';
export type { Confidence, Evidence, Finding, FindingCode } from '../analysis/findings/finding.js';
export { findings, findingsTable } from '../analysis/findings/findings.js';
export { nothingFoundIn } from '../analysis/findings/nothingFound.js';
export type { ProfiledPrefix, ProfileTimeline, ProfileTreeOptions } from '../analysis/profile.js';
export { profiledPrefixes, profileTimeline, profileTree, samplingInterval } from '../analysis/profile.js';
export type { ProgramTimes } from '../analysis/programTimes.js';
export { programTimes } from '../analysis/programTimes.js';
export { recordsTransfers } from '../analysis/programTransfers.js';
export type { Question } from '../analysis/questions.js';
export { QUESTIONS } from '../analysis/questions.js';
export type { Recorded, Scaling } from '../analysis/scaling.js';
export { scaling } from '../analysis/scaling.js';
export type { SimulatedRun, SimulateOptions, Simulation } from '../analysis/simulate.js';
export { simulate } from '../analysis/simulate.js';
export type { SkippedTasks } from '../analysis/skippedTasks.js';
export { skippedTasks } from '../analysis/skippedTasks.js';
export type { Speedup } from '../analysis/speedups.js';
export { isWorthNaming, notSimulated, speedups } from '../analysis/speedups.js';
export { spilledResults } from '../analysis/spilledResults.js';
export { repeatedCount } from '../analysis/submissionTimes.js';
export type { Cell, Row, ToStringOptions } from '../analysis/table.js';
export { Table } from '../analysis/table.js';
export type { TaskBalanceOptions } from '../analysis/taskBalance.js';
export { type FailedTask, failedTaskCount, failedTasks, lostRunCount } from '../analysis/taskErrors.js';
export type { TraceAnalyserOptions } from '../analysis/traceAnalyser.js';
export { TraceAnalyser } from '../analysis/traceAnalyser.js';
export { workerShares } from '../analysis/workerBalance.js';
// Recording for these analyses. DASF exports both from one module, too.
export type { PipelineConstructorOptions } from './pipeline.js';
export { Pipeline } from './pipeline.js';
export type { DefaultProfiler, DefaultProfilerOptions } from './registerDefaultProfiler.js';
export { registerDefaultProfiler } from './registerDefaultProfiler.js';

// `longpole/analysis`: questions about a trace, and tables that answer them.
export type { AnnotatedTaskGraph } from '../analysis/annotatedTaskGraph.js';
export type { Cell, Row, ToStringOptions } from '../analysis/table.js';
export { Table } from '../analysis/table.js';
export type { TaskBalanceOptions } from '../analysis/taskBalance.js';
export type { TraceAnalyserOptions } from '../analysis/traceAnalyser.js';
export { TraceAnalyser } from '../analysis/traceAnalyser.js';

// Properties of every page, and those that many of their parts have.

import type { Trace } from '../../trace/trace.js';
import type { Scheme } from '../model/palette.js';
import type { TraceUpdate } from '../source/traceSource.js';
import type { ShellState } from '../views/shellState.js';

export interface PageProps {
  readonly state: ShellState;
  readonly update: TraceUpdate;
}

/** Properties of what is about one task. */
export interface TaskProps {
  readonly state: ShellState;
  readonly trace: Trace;
  /** Row of the task's run. */
  readonly row: number;
}

/** Properties of a drawing of a trace. */
export interface DrawnProps {
  readonly trace: Trace;
  readonly scheme: Scheme;
}

// Properties of every page.
import type { TraceUpdate } from '../source/traceSource.js';
import type { ShellState } from '../views/shellState.js';

export interface PageProps {
  readonly state: ShellState;
  readonly update: TraceUpdate;
}

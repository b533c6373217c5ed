// Properties of every page.
import type { AnimationFrames } from '../canvas/animationFrames.js';
import type { Stage } from '../canvas/stage.js';
import type { TraceUpdate } from '../source/traceSource.js';
import type { ShellState } from '../views/shellState.js';

export interface PageProps {
  readonly state: ShellState;
  readonly update: TraceUpdate;
  readonly stage: Stage;
  readonly animationFrames: AnimationFrames;
}

// Limits of a dashboard's server for its viewers, i.e. connected pages.

export interface ViewerLimits {
  /** Buffered bytes of one viewer above which the viewer receives nothing until it has read them. */
  readonly maxBuffered: number;
  /** Milliseconds after which a viewer that reads nothing is disconnected. */
  readonly stuckMs: number;
  /** Largest number of past tasks sent to a new viewer, which receives only sums of older tasks. */
  readonly maxCatchUp: number;
  /** Largest number of open WebSockets. */
  readonly maxViewers: number;
  /** Milliseconds between two messages with rows. */
  readonly intervalMs: number;
}

export const DEFAULT_LIMITS: ViewerLimits = {
  maxBuffered: 4 * 2 ** 20,
  stuckMs: 20_000,
  maxCatchUp: 300_000,
  maxViewers: 64,
  intervalMs: 125,
};

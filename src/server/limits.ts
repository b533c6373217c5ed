// How much a dashboard's server gives to those who look, and takes from them.

export interface ViewerLimits {
  /** Bytes that wait for one viewer; beyond it the viewer is left out until it has caught up. */
  readonly maxBuffered: number;
  /** Milliseconds after which a viewer that takes nothing is disconnected. */
  readonly stuckMs: number;
  /** Tasks that are sent to a page that comes late; of the others it gets the sums. */
  readonly maxCatchUp: number;
  /** WebSockets at a time. */
  readonly maxViewers: number;
  /** Milliseconds between two times that rows are sent. */
  readonly intervalMs: number;
}

export const DEFAULT_LIMITS: ViewerLimits = {
  maxBuffered: 4 * 2 ** 20,
  stuckMs: 20_000,
  maxCatchUp: 300_000,
  maxViewers: 64,
  intervalMs: 125,
};

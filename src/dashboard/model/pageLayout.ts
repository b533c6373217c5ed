// Sizes of the parts of the page, in CSS pixels. All plots have the same gutters, so their time axes align.

/** Width to the left of every plot, for worker names and the values of the left axis. */
export const LEFT_GUTTER = 104;
/** Width to the right of every plot, for the busy share of workers and the values of the right axis. */
export const RIGHT_GUTTER = 76;
export const HEADING = 34;
/** Heights of the overview of the whole run, and of the time axis. */
export const OVERVIEW_HEIGHT = 44;
export const RULER_HEIGHT = 26;
/** Space below each plot. */
const GAP = 10;

const MIN_LANE = 6;
const MAX_LANE = 64;
/** Highest lane on a page without charts. */
const MAX_LANE_ALONE = 200;
const MIN_CHART = 96;
const MAX_CHART = 480;

export interface PlotBox {
  /** Distance of the heading from the top of the first plot. */
  readonly top: number;
  /** Height of the drawing, without the heading. */
  readonly height: number;
}

/**
 * Divides the height among the plots. `lanes` has the number of lanes of each task stream, and 0 for each chart.
 * Streams get up to 60 % for their lanes, and charts the remaining height. If the minimum heights do not fit, the page scrolls.
 */
export function layoutPlots(lanes: readonly number[], height: number): { boxes: PlotBox[]; total: number } {
  const free = Math.max(0, height - lanes.length * (HEADING + GAP));
  const charts = lanes.filter((count) => count === 0).length;
  const laneSum = lanes.reduce((sum, count) => sum + count, 0);
  const chartShare = charts === 0 ? 0 : Math.max(MIN_CHART * charts, free * (laneSum === 0 ? 1 : 0.4));
  const wanted =
    laneSum === 0 ? 0 : Math.min(charts === 0 ? MAX_LANE_ALONE : MAX_LANE, (free - chartShare) / laneSum);
  const lane = Math.max(MIN_LANE, wanted);
  const remaining = free - lane * laneSum;
  const chart = Math.min(MAX_CHART, Math.max(MIN_CHART, charts === 0 ? 0 : remaining / charts));
  let top = 0;
  const boxes = lanes.map((count) => {
    // An empty stream has room for its message.
    const own = Math.floor(count === 0 ? chart : Math.max(MIN_CHART / 2, lane * count));
    const box = { top, height: own };
    top += HEADING + own + GAP;
    return box;
  });
  return { boxes, total: top };
}

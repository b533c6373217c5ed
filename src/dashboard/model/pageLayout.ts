// Where things are on the page, in CSS pixels. All plots share the gutters, so their time axes are one.

/** Left of every plot: names of workers, values of the left axis. */
export const LEFT_GUTTER = 104;
/** Right of every plot: busy share of the workers, values of the right axis. */
export const RIGHT_GUTTER = 76;
/** Heading above each plot. */
export const HEADING = 34;
/** The whole run in small, and the axis with the times. */
export const OVERVIEW_HEIGHT = 44;
export const RULER_HEIGHT = 26;
/** Below each plot. */
const GAP = 10;

const LEAST_LANE = 6;
const LARGEST_LANE = 64;
/** Of a page that has streams alone. */
const LARGEST_LANE_ALONE = 200;
const LEAST_CHART = 96;
const LARGEST_CHART = 480;

export interface PlotBox {
  /** Of the heading, from the top of the first plot. */
  readonly top: number;
  /** Of the drawing, without the heading. */
  readonly height: number;
}

/**
 * Shares the height among the plots: `lanes` is the number of lanes of a task stream, 0 for a chart. Streams get what
 * their lanes need up to 60 %, charts the rest; where the least heights do not fit, the page scrolls.
 */
export function layoutPlots(lanes: readonly number[], height: number): { boxes: PlotBox[]; total: number } {
  const free = Math.max(0, height - lanes.length * (HEADING + GAP));
  const charts = lanes.filter((count) => count === 0).length;
  const laneSum = lanes.reduce((sum, count) => sum + count, 0);
  const chartShare = charts === 0 ? 0 : Math.max(LEAST_CHART * charts, free * (laneSum === 0 ? 1 : 0.4));
  const wanted =
    laneSum === 0
      ? 0
      : Math.min(charts === 0 ? LARGEST_LANE_ALONE : LARGEST_LANE, (free - chartShare) / laneSum);
  const lane = Math.max(LEAST_LANE, wanted);
  const rest = free - lane * laneSum;
  const chart = Math.min(LARGEST_CHART, Math.max(LEAST_CHART, charts === 0 ? 0 : rest / charts));
  let top = 0;
  const boxes = lanes.map((count) => {
    // An empty stream still has room for the sentence that says so.
    const own = Math.floor(count === 0 ? chart : Math.max(LEAST_CHART / 2, lane * count));
    const box = { top, height: own };
    top += HEADING + own + GAP;
    return box;
  });
  return { boxes, total: top };
}

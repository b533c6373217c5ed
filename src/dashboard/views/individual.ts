// The part of a page that is shown alone, for the components of the page.
import { createContext } from 'preact';
import { individualPlotAt } from '../../protocol/individualPlots.js';
import type { Plot } from '../model/profileModel.js';
import { INDIVIDUAL_PLOT_CONTENT, type IndividualPlot } from '../pages/individualPlots.js';
import type { PageName } from '../pages/pageNames.js';

/** The plot that is shown alone; undefined if the whole dashboard is shown. */
export const IndividualContext = createContext<IndividualPlot | undefined>(undefined);

/** Returns the plot that the URL of a tab or an iframe names; undefined for the whole dashboard. */
export function individualOf({ protocol, pathname }: Location): IndividualPlot | undefined {
  const name = protocol === 'file:' ? undefined : individualPlotAt(pathname);
  return name === undefined ? undefined : INDIVIDUAL_PLOT_CONTENT[name];
}

/** Opens a page of the whole dashboard in a new tab. A key selects a task there. */
export function openDashboard(page: PageName, key: string): void {
  const task = key === '' ? '' : `?${new URLSearchParams({ task: key })}`;
  // The token, if there is one, is part of the URL of a plot in an iframe.
  open(`./${location.search}#${page}${task}`, '_blank', 'noopener');
}

/** Returns the plots of a page that are shown. */
export function shownPlots(individual: IndividualPlot | undefined, plots: readonly Plot[]): readonly Plot[] {
  const titles = individual?.plots;
  if (titles === undefined || titles === 'all') return plots;
  return plots.filter((plot) => plot.type === 'lines' && titles.includes(plot.title));
}

// The part of a page that is shown alone, for the components of the page.
import { createContext } from 'preact';
import { type IndividualPlotName, individualPlotAt } from '../../protocol/individualPlots.js';
import type { Plot } from '../model/profileModel.js';
import type { PageName } from '../pages/pageNames.js';
import type { ProfileChoice } from '../pages/profileQuery.js';

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

export function shownPlots(individual: IndividualPlot | undefined, plots: readonly Plot[]): readonly Plot[] {
  const titles = individual?.plots;
  if (titles === undefined || titles === 'all') return plots;
  return plots.filter((plot) => plot.type === 'lines' && titles.includes(plot.title));
}

/** A part of a page. Without `plots` and `panels`, it is the whole page. */
export interface IndividualPlot {
  readonly page: PageName;
  /** Titles of plots over time, or all plots of the page. */
  readonly plots?: readonly string[] | 'all';
  readonly panels?: readonly string[];
  readonly profile?: ProfileChoice;
}

/** The contents of the plots that the page shows alone, e.g. in JupyterLab. */
const INDIVIDUAL_PLOT_CONTENT: Readonly<Record<IndividualPlotName, IndividualPlot>> = {
  'task-stream': { page: 'status', plots: 'all' },
  progress: { page: 'status', panels: ['Progress'] },
  graph: { page: 'graph' },
  groups: { page: 'groups', panels: ['Groups'] },
  'workers-memory': { page: 'status', panels: ['Memory per worker'] },
  'cluster-memory': { page: 'workers', plots: ['Memory of all workers'] },
  cpu: { page: 'status', panels: ['Occupancy and CPU'] },
  nprocessing: { page: 'status', panels: ['Tasks processing', 'Tasks running'] },
  occupancy: { page: 'status', panels: ['Occupancy and CPU'] },
  workers: { page: 'workers', panels: ['Workers'] },
  exceptions: { page: 'errors', panels: ['Failed tasks'] },
  'bandwidth-types': { page: 'bandwidth', panels: ['By type of result'] },
  'bandwidth-workers': { page: 'bandwidth', panels: ['Transfers between workers'] },
  'workers-network-timeseries': { page: 'bandwidth', plots: 'all' },
  'workers-cpu-timeseries': { page: 'workers', plots: ['CPU'] },
  'workers-memory-timeseries': { page: 'workers', plots: ['Memory of all workers'] },
  'workers-disk-timeseries': { page: 'workers', plots: ['Read from disk', 'Written to disk'] },
  'memory-by-key': { page: 'memory', panels: ['Results by prefix'] },
  'compute-time-per-key': { page: 'compute', panels: ['Compute time by key'] },
  'aggregate-time-per-action': { page: 'actions', panels: ['Aggregate time by action'] },
  'scheduler-system': { page: 'system', plots: 'all' },
  contention: { page: 'contention', plots: 'all' },
  'fine-performance-metrics': { page: 'metrics' },
  profile: { page: 'profile' },
  'profile-server': { page: 'profile', profile: { scheduler: true } },
  'gpu-memory': { page: 'system', plots: ['GPU memory'] },
  'gpu-utilization': { page: 'system', plots: ['GPU'] },
};

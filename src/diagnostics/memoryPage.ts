// The page that `MemorySampler.plot` writes: a report of a trace that holds the samples alone.
import type { MemorySeries } from './memoryPlot.js';
import { renderReport } from './performanceReport.js';
import { ProfilerTrace } from './profilerTrace.js';
import { addressOfPlots } from './visualize.js';

/** Returns the text of the page. Throws ERR_LONGPOLE_PAGE_FILE if the page is not part of the installation. */
export function memoryPage(series: readonly MemorySeries[]): string {
  const page = new ProfilerTrace();
  page.addMemory(series);
  const trace = page.build();
  return renderReport(trace, { title: 'Memory over time', address: addressOfPlots(page.plots) }).join('');
}

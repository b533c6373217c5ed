// The page of `MemorySampler.plot`: a report of a trace with the samples only.
import type { MemorySeries } from './memoryPlot.js';
import { renderReport } from './performanceReport.js';
import { ProfilerTrace } from './profilerTrace.js';
import { addressOfPlots } from './visualize.js';

/**
 * Returns the text of the page.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the template is missing from the installation
 */
export function memoryPage(series: readonly MemorySeries[]): string {
  const page = new ProfilerTrace();
  page.addMemory(series);
  const trace = page.build();
  return renderReport(trace, { title: 'Memory over time', address: addressOfPlots(page.plots) }).join('');
}

// The page with the details of a finding.
import { PAGES, type PageName } from './pageNames.js';

const PAGE_OF: Readonly<Record<string, PageName>> = {
  concurrency: 'stream',
  'critical-path': 'stream',
  findings: 'summary',
  queueing: 'stream',
  speedups: 'summary',
  stragglers: 'stream',
  'memory-by-prefix': 'memory',
  'time-by-action': 'actions',
  'time-by-prefix': 'compute',
  'transfers-by-pair': 'bandwidth',
  'transfers-by-type': 'bandwidth',
  'worker-balance': 'workers',
};

/** Returns the page's name in the address and its title; undefined for a question without a page. */
export function pageOfQuestion(
  question: string,
): { readonly name: PageName; readonly title: string } | undefined {
  const name = PAGE_OF[question];
  return PAGES.find((page) => page.name === name);
}

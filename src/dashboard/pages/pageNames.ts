// The pages of the dashboard in the order of the navigation, with their names in the address and their titles, and the
// pages with the details of findings.

export const PAGES = [
  { name: 'summary', title: 'Summary', group: '' },
  { name: 'status', title: 'Status', group: '' },
  { name: 'stream', title: 'Task stream', group: 'Time' },
  { name: 'run', title: 'Run over time', group: 'Time' },
  { name: 'profile', title: 'Profile', group: 'Time' },
  { name: 'metrics', title: 'Fine performance metrics', group: 'Time' },
  { name: 'compute', title: 'Compute time by key', group: 'Time' },
  { name: 'actions', title: 'Time by action', group: 'Time' },
  { name: 'groups', title: 'Groups', group: 'Work' },
  { name: 'graph', title: 'Graph', group: 'Work' },
  { name: 'workers', title: 'Workers', group: 'Machines' },
  { name: 'memory', title: 'Memory by key', group: 'Machines' },
  { name: 'bandwidth', title: 'Bandwidth', group: 'Machines' },
  { name: 'contention', title: 'Contention', group: 'Machines' },
  { name: 'system', title: 'System and GPU', group: 'Machines' },
  { name: 'events', title: 'Events', group: 'Log' },
  { name: 'errors', title: 'Errors', group: 'Log' },
  { name: 'logs', title: 'Logs', group: 'Log' },
] as const;

export type PageName = (typeof PAGES)[number]['name'];

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

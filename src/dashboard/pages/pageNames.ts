// The pages of the dashboard in the order of the navigation, with their names in the address and their titles.

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

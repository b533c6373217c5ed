// Lists the pictures of README and docs/: which pages show each, and what it is of. scripts/picture.mjs takes them;
// pictures.test.mjs compares the list with the pages.

/**
 * @typedef {object} Picture
 * @property {string} name of the file docs/images/NAME.png
 * @property {string[]} pages that show it
 * @property {'demo' | 'program' | 'example' | 'live' | 'report' | 'diff' | 'memory' | 'pipeline'} of page that scripts/picture.mjs opens
 * @property {string} [address] fragment of that page: which part it shows
 * @property {number} [width] px
 * @property {number} [height] px
 */

/** Size of the window in px, unless a picture has its own. A picture has two pixels for each. */
export const WIDTH = 1200;
export const HEIGHT = 720;
/** Largest file in bytes. */
export const MAX_BYTES = 150_000;

/** @type {readonly Picture[]} */
export const PICTURES = [
  {
    name: 'profile',
    pages: ['README.md', 'docs/diagnose-a-slow-run.md', 'docs/diagnostics.md'],
    of: 'demo',
  },
  { name: 'first-program', pages: ['docs/get-started.md'], of: 'program' },
  {
    name: 'dashboard',
    pages: ['README.md', 'docs/dashboard.md', 'docs/dask.md'],
    of: 'live',
    address: '#status',
  },
  { name: 'summary', pages: ['docs/performance-report.md'], of: 'report', address: '#summary' },
  { name: 'task-stream', pages: ['docs/name-the-long-pole.md'], of: 'example', address: '#stream' },
  { name: 'dashboard-profile', pages: ['docs/profile-a-task.md'], of: 'report', address: '#profile' },
  {
    name: 'metrics',
    pages: ['docs/label-time.md', 'docs/metrics-reference.md'],
    of: 'report',
    address: '#metrics',
  },
  { name: 'bandwidth', pages: ['docs/inspect-transfers.md'], of: 'report', address: '#bandwidth' },
  { name: 'memory', pages: ['docs/limit-memory.md'], of: 'report', address: '#memory' },
  { name: 'system', pages: ['docs/resources.md'], of: 'report', address: '#system' },
  { name: 'diff', pages: ['docs/compare-runs.md'], of: 'diff' },
  { name: 'memory-sampler', pages: ['docs/sample-memory.md'], of: 'memory', height: 480 },
  {
    name: 'pipeline',
    pages: ['docs/profile-a-pipeline.md'],
    of: 'pipeline',
    width: 600,
    height: 420,
    ready: 'svg',
  },
];

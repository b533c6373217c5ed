// Which scripts are the runtime: Node's own, and this package where it runs tasks.

const PACKAGE = new URL('../../', import.meta.url).href;
const WORKER = new URL('../worker/', import.meta.url).href;
const CALLERS = new Set(['evaluator.js', 'loadFunctions.js'].map((name) => WORKER + name));
/** Programs of this package, which may be what a user wants to see. */
const PROGRAMS = ['examples/', 'cli/'].map((folder) => PACKAGE + folder);

export function isRuntimeFile(url: string): boolean {
  if (url.startsWith('node:')) return true;
  return url.startsWith(PACKAGE) && !isTest(url) && !PROGRAMS.some((folder) => url.startsWith(folder));
}

/** Scripts that call the functions of tasks. */
export function callsTasks(url: string): boolean {
  return CALLERS.has(url);
}

/** The scheduler's thread runs the runtime on purpose: there only Node's own frames are cut off. */
export function isNodeFile(url: string): boolean {
  return url.startsWith('node:');
}

function isTest(url: string): boolean {
  return /\.test(\.support)?\.js$/.test(url);
}

// Decides which scripts belong to the runtime: Node's own, and this package where it runs tasks.

const PACKAGE = new URL('../../', import.meta.url).href;
// The bundle keeps these scripts apart, see scripts/bundle.mjs.
const CALLERS: ReadonlySet<string> = new Set([
  new URL('../worker/evaluator.js', import.meta.url).href,
  new URL('../worker/loadFunctions.js', import.meta.url).href,
]);
/** Script → its function that calls a script of CALLERS. V8 may inline the function of a task and the caller into it. */
const RUNNERS: ReadonlyMap<string, string> = new Map([
  [new URL('../worker/isolateRun.js', import.meta.url).href, 'evaluate'],
  [new URL('../worker/isolateRuntime.js', import.meta.url).href, '#runBatch'],
]);
/** Programs of this package, which a user may want to see. */
const PROGRAMS = ['examples/', 'cli/'].map((folder) => PACKAGE + folder);

export function isRuntimeFile(url: string): boolean {
  if (isNodeFile(url)) return true;
  return url.startsWith(PACKAGE) && !isTest(url) && !PROGRAMS.some((folder) => url.startsWith(folder));
}

/** Returns whether a script calls the functions of tasks. */
export const callsTasks = (url: string): boolean => CALLERS.has(url);

/** Returns whether a function of a script runs tasks. V8 may inline a short task into it, with the functions between. */
export function runsTasks(url: string, functionName: string): boolean {
  return callsTasks(url) || RUNNERS.get(url) === functionName;
}

/** Returns whether a script belongs to Node. On the scheduler's thread, only Node's own stack frames are removed. */
export function isNodeFile(url: string): boolean {
  return url.startsWith('node:');
}

function isTest(url: string): boolean {
  return /\.test(\.support)?\.js$/.test(url);
}

// Loaded into the program before its first line. Node also passes `--import` to each worker thread, where this module
// has no effect.
import { isMainThread } from 'node:worker_threads';
import { DIRECTORY_VARIABLE } from './settings.js';

/** The file of the bundle calls and awaits it, see scripts/bundle.mjs. */
export async function start(): Promise<void> {
  const directory = process.env[DIRECTORY_VARIABLE];
  delete process.env[DIRECTORY_VARIABLE];
  if (!isMainThread || directory === undefined) return;
  // Forks of the program need not load this module.
  const at = process.execArgv.indexOf(import.meta.url);
  if (at > 0) process.execArgv.splice(at - 1, 2);
  const { recordProgram } = await import('./recordProgram.js');
  recordProgram(directory);
}

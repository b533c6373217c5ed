// Loaded into the program before its first line, and, because Node hands `--import` on, into each of its worker threads,
// where it does nothing.
import { isMainThread } from 'node:worker_threads';
import { readRunSettings, VARIABLE } from './settings.js';

const text = process.env[VARIABLE];
delete process.env[VARIABLE];
const settings = isMainThread && text !== undefined ? readRunSettings(text) : undefined;
if (settings !== undefined) {
  // The program's forks need not load it.
  const at = process.execArgv.indexOf(import.meta.url);
  if (at > 0) process.execArgv.splice(at - 1, 2);
  const { recordProgram } = await import('./recordProgram.js');
  recordProgram(settings);
}

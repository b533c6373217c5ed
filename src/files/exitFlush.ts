// Writes or removes data before the process ends: at its exit, and when SIGINT, SIGTERM or SIGHUP end it. Listeners
// exist only while there is such data, so that a program without recordings and clusters ends as usual.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { attempt } from '../base/errors.js';
import { visibleText } from '../base/visibleText.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A function that is called once, synchronously, and must not throw. */
export type Flush = () => void;

/** The waiting functions, and whether each runs on signals. */
const pending = new Map<Flush, boolean>();

/** Functions that add rows before the others write them. */
const reports = new Set<Flush>();

function flushAll(): void {
  for (const report of [...reports]) report();
  for (const flush of [...pending.keys()]) flush();
}

/** Flushes on a signal, unless the program has a listener: then the program may continue, or end with 'exit'. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  flushAll();
  stopListening();
  // Without a listener, the system's default action follows.
  process.kill(process.pid, signal);
}

function stopListening(): void {
  process.off('exit', flushAll);
  stopListeningForSignals();
}

function stopListeningForSignals(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function anyOnSignals(): boolean {
  return [...pending.values()].includes(true);
}

/**
 * Calls `flush` before the process ends. With `onSignals` false, not when a signal ends it: a listener for a signal
 * would keep the signal from ending a program that never returns to its event loop.
 */
export function flushAtExit(flush: Flush, onSignals = true): void {
  if (pending.size === 0) process.on('exit', flushAll);
  // Signals reach only the main thread; a worker that is terminated from outside runs no more code.
  if (onSignals && isMainThread && !anyOnSignals())
    // Prepended, because listeners for one call are still counted then.
    for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  pending.set(flush, onSignals);
}

/**
 * Calls `report` before the functions of `flushAtExit`, if there are any. Needs no listener of its own. Returns a function
 * that removes it.
 */
export function reportAtExit(report: Flush): () => void {
  reports.add(report);
  return () => void reports.delete(report);
}

/** Removes a function, because it has nothing left to flush. */
export function nothingToFlush(flush: Flush): void {
  if (!pending.delete(flush)) return;
  if (pending.size === 0) stopListening();
  else if (!anyOnSignals()) stopListeningForSignals();
}

/** Prints a warning at once: Node prints its own warnings in the next turn of the event loop, and there is none at the end. */
export function warnAtExit(text: string): void {
  attempt(() => writeSync(2, `(node:${process.pid}) LongpoleWarning: ${visibleText(text)}\n`), undefined);
}

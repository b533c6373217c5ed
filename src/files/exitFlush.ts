// What has to be written or removed before the process ends: at its exit, and when SIGINT, SIGTERM or SIGHUP end it.
// Listeners exist only while something waits, so that a program without recordings and clusters ends as it always did.
import { isMainThread } from 'node:worker_threads';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Called once, synchronously; must not throw. */
export type Flush = () => void;

/** What waits, and whether signals are listened to for it. */
const pending = new Map<Flush, boolean>();

function flushAll(): void {
  for (const flush of [...pending.keys()]) flush();
}

/** A program with a listener of its own decides about its end: it may go on, and what it ends by raises 'exit'. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  flushAll();
  stopListening();
  // Without a listener the system's default happens.
  process.kill(process.pid, signal);
}

function stopListening(): void {
  process.off('exit', flushAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/**
 * Has `flush` called before the process ends. `onSignals` false: not when a signal ends it. A listener for a signal keeps it
 * from ending a program that never returns to its event loop.
 */
export function flushAtExit(flush: Flush, onSignals = true): void {
  if (pending.size === 0) process.on('exit', flushAll);
  // Signals reach the main thread alone; a worker that is terminated from outside runs nothing more.
  if (onSignals && isMainThread && ![...pending.values()].includes(true))
    // First of all listeners: those that are called once are still counted then.
    for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  pending.set(flush, onSignals);
}

/** There is nothing left to flush. */
export function nothingToFlush(flush: Flush): void {
  if (pending.delete(flush) && pending.size === 0) stopListening();
}

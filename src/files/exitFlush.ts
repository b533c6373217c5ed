// What has to be written before the process ends: at its exit, and when SIGINT or SIGTERM end it. Listeners are only
// there while something waits to be written, so that a program that records nothing ends as it always did.
import { isMainThread } from 'node:worker_threads';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Called once, synchronously; must not throw. */
export type Flush = () => void;

const pending = new Set<Flush>();

function flushAll(): void {
  for (const flush of [...pending]) flush();
}

function onSignal(signal: NodeJS.Signals): void {
  flushAll();
  stopListening();
  // Whoever else listens decides about the process. Without listeners the system's default has to happen.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

function startListening(): void {
  process.on('exit', flushAll);
  // Signals reach the main thread alone; a worker that is terminated from outside runs nothing more.
  if (isMainThread) for (const signal of SIGNALS) process.on(signal, onSignal);
}

function stopListening(): void {
  process.off('exit', flushAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Has `flush` called before the process ends. */
export function flushAtExit(flush: Flush): void {
  if (pending.size === 0) startListening();
  pending.add(flush);
}

/** There is nothing left to flush. */
export function nothingToFlush(flush: Flush): void {
  if (pending.delete(flush) && pending.size === 0) stopListening();
}

// Protects threads that load a native addon. If a thread ends during the load, the addon cannot throw into the dying
// isolate, and Node aborts the whole process. So a thread announces a load, and the owner waits for its end before
// terminating the thread. The end of the process waits too, because it ends all threads.
//
// A thread also announces its own end, because an inspector's message to an ending thread makes Node 20 abort.

const FREE = 0;
export const LOADING = 1;
const ENDING = 2;

/** Shared memory of a thread and its owner. */
export type GuardCell = { readonly cells: Int32Array; readonly index: number };

/**
 * Milliseconds for which the end of the process waits for its threads. Loading an addon takes 10 to 50 ms, but a thread
 * may wait seconds for a core.
 */
const EXIT_PATIENCE_MS = 10_000;

/** Milliseconds between two polls of a thread that loads an addon and should end. */
const LOOK_MS = 5;

let guard: GuardCell | undefined;
/** Number of addons being loaded. The import of one may load another. */
let loading = 0;
/** Threads that this thread has started. */
const threads = new Set<GuardCell>();

/** Sets the cell of this thread. A thread without a cell has no owner that ends it. */
export function setNativeGuard(cell: GuardCell): void {
  guard = cell;
}

/** Announces the load of an addon. Returns false if the thread is about to end and must not load it. */
export function enterNative(): boolean {
  if (guard !== undefined && loading === 0) {
    if (Atomics.compareExchange(guard.cells, guard.index, FREE, LOADING) === ENDING) return false;
  }
  loading++;
  return true;
}

/** Announces the end of a load. */
export function leaveNative(): void {
  loading--;
  if (guard === undefined || loading > 0) return;
  Atomics.compareExchange(guard.cells, guard.index, LOADING, FREE);
  Atomics.notify(guard.cells, guard.index);
}

/**
 * Delays the end of the process while a started thread loads an addon. Call the returned function when the thread has
 * ended.
 */
export function guardThread(cell: GuardCell): () => void {
  if (threads.size === 0) process.on('exit', endThreads);
  threads.add(cell);
  return () => {
    Atomics.store(cell.cells, cell.index, ENDING);
    threads.delete(cell);
    if (threads.size === 0) process.off('exit', endThreads);
  };
}

function endThreads(): void {
  const end = performance.now() + EXIT_PATIENCE_MS;
  for (const cell of threads) {
    for (let left = end - performance.now(); left > 0 && !mayEnd(cell); left = end - performance.now())
      Atomics.wait(cell.cells, cell.index, LOADING, left);
  }
}

/**
 * Calls back once the thread may be ended, possibly at once. From then on the thread loads nothing. A load that never
 * ends does not keep the program alive.
 */
export function whenMayEnd(cell: GuardCell, end: () => void): void {
  if (mayEnd(cell)) end();
  else setTimeout(() => whenMayEnd(cell, end), LOOK_MS).unref();
}

function mayEnd({ cells, index }: GuardCell): boolean {
  return Atomics.compareExchange(cells, index, FREE, ENDING) !== LOADING;
}

/** Announces that this thread is ending by itself, so that no inspector sends it a message any more. */
export function sayEnding(): void {
  if (guard !== undefined) Atomics.store(guard.cells, guard.index, ENDING);
}

/** Returns whether the thread ends, by itself or because its owner ends it. */
export function isEnding({ cells, index }: GuardCell): boolean {
  return Atomics.load(cells, index) === ENDING;
}

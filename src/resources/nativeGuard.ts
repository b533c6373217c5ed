// A thread that is ended while it loads a native addon takes the whole process along: the addon cannot throw into an isolate
// that is going, and Node aborts. So a thread says when it loads one, and who ends threads waits for that moment to pass;
// so does the end of the process, which ends all threads.
// A thread that ends says that, too: an inspector's message that reaches it then makes Node 20 abort.

const FREE = 0;
export const LOADING = 1;
const ENDING = 2;

/** Where a thread and its owner agree; shared memory. */
export type GuardCell = { readonly cells: Int32Array; readonly index: number };

/**
 * How long the end of the process waits for its threads, in milliseconds. To load an addon takes 10 to 50, but a thread may
 * have to wait for its core for seconds.
 */
const EXIT_PATIENCE_MS = 10_000;

/** How often a thread that loads an addon is looked at before it is ended, in milliseconds. */
const LOOK_MS = 5;

let guard: GuardCell | undefined;
/** Addons that are being loaded: one may be needed while another is imported. */
let loading = 0;
/** Threads that this one has started. */
const threads = new Set<GuardCell>();

/** Of this thread; without one nobody ends it. */
export function setNativeGuard(cell: GuardCell): void {
  guard = cell;
}

/** Before an addon is loaded. False: the thread is about to end, and must not begin. */
export function enterNative(): boolean {
  if (guard !== undefined && loading === 0) {
    if (Atomics.compareExchange(guard.cells, guard.index, FREE, LOADING) === ENDING) return false;
  }
  loading++;
  return true;
}

/** After it. */
export function leaveNative(): void {
  loading--;
  if (guard === undefined || loading > 0) return;
  Atomics.compareExchange(guard.cells, guard.index, LOADING, FREE);
  Atomics.notify(guard.cells, guard.index);
}

/** For who has started a thread: the process does not end while it loads an addon. Call what comes back when it has ended. */
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
 * Calls back once the thread may be ended, at once if that is so already; from then on it loads nothing. A thread that loads
 * for ever does not keep the program alive.
 */
export function whenMayEnd(cell: GuardCell, end: () => void): void {
  if (mayEnd(cell)) end();
  else setTimeout(() => whenMayEnd(cell, end), LOOK_MS).unref();
}

function mayEnd({ cells, index }: GuardCell): boolean {
  return Atomics.compareExchange(cells, index, FREE, ENDING) !== LOADING;
}

/** In a thread that is ending by itself: nothing must be sent to it through an inspector any more. */
export function sayEnding(): void {
  if (guard !== undefined) Atomics.store(guard.cells, guard.index, ENDING);
}

/** Whether the thread ends, by itself or because its owner wants it. */
export function isEnding({ cells, index }: GuardCell): boolean {
  return Atomics.load(cells, index) === ENDING;
}

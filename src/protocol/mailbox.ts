// Words that an isolate and its host share. The first is 1 while a message waits that must be read between two tasks.

/** Word that shows whether the thread loads a native addon: see resources/nativeGuard. */
export const NATIVE_CELL = 1;
/** Word with the run whose batch the isolate has begun or continued last, plus 1; 0: none yet. */
const RUN_CELL = 2;

export function makeMailbox(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(12));
}

/** Called before a task of a batch of the run may begin. */
export function setCurrentRun(mailbox: Int32Array, run: number): void {
  Atomics.store(mailbox, RUN_CELL, run + 1);
}

/** Returns the only run that may have a running task. */
export function currentRunOf(mailbox: Int32Array): number {
  return Atomics.load(mailbox, RUN_CELL) - 1;
}

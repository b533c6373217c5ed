// Ensures that one process at a time appends to a shared file.
//
// DASF locks a file with flock(2), which Node cannot call. The command `flock` of Linux can. A lock belongs to the
// open file, not to the process. So the lock that the command takes on an inherited descriptor stays when the command
// ends, and is released when the file is closed, even after a crash. Without the command, a second file is the lock;
// it excludes Longpole's processes, not DASF's.

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { LongpoleError } from '../base/errors.js';
import { isError } from '../base/isError.js';

/** Exit code of flock when another process held the lock all the time. */
const TIMED_OUT = 75;
/** Milliseconds between two polls of a lock file. */
const POLL = 20;

let flockWorks: boolean | undefined;

/** Runs `write` while no other process appends to `file`, which is open as `fd`. Throws ERR_LONGPOLE_LOCK_TIMEOUT. */
export function withAppendLock(file: string, fd: number, timeout: number, write: () => void): void {
  if (flockWorks !== false && lockByCommand(file, fd, timeout)) {
    // Closing the file unlocks it.
    write();
    return;
  }
  const lock = `${file}.lock`;
  lockByFile(file, lock, timeout);
  try {
    write();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Locks by the command. Returns false if the system has no such command. */
function lockByCommand(file: string, fd: number, timeout: number): boolean {
  const wait = ['-x', '-w', String(Math.max(0, timeout)), '-E', String(TIMED_OUT), '3'];
  const { status, error } = spawnSync('flock', wait, { stdio: ['ignore', 'ignore', 'ignore', fd] });
  if (status === TIMED_OUT) throw timeoutError(file, timeout, '');
  flockWorks = error === undefined && status === 0;
  return flockWorks;
}

function lockByFile(file: string, lock: string, timeout: number): void {
  const end = performance.now() + timeout * 1000;
  for (;;) {
    try {
      const handle = openSync(lock, 'wx');
      writeSync(handle, String(process.pid));
      closeSync(handle);
      return;
    } catch (error) {
      if (!isExisting(error)) throw error;
    }
    if (ownerIsGone(lock)) rmSync(lock, { force: true });
    else if (performance.now() >= end)
      throw timeoutError(file, timeout, ` If no other process runs, delete ${lock}.`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL);
  }
}

/** Returns whether the process that made the lock file has ended. A file without a number is still being written. */
function ownerIsGone(lock: string): boolean {
  try {
    const owner = Number(readFileSync(lock, 'utf8'));
    if (!(owner > 0)) return Date.now() - statSync(lock).mtimeMs > 10_000;
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return isError(error) && 'code' in error && error.code === 'ESRCH';
  }
}

function isExisting(error: unknown): boolean {
  return isError(error) && 'code' in error && error.code === 'EEXIST';
}

function timeoutError(file: string, timeout: number, hint: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_LOCK_TIMEOUT',
    `Another process has been writing to ${file} for ${timeout} s. The events are kept; commit() tries again.${hint}`,
  );
}

// The coverage of a program, which Node writes when a process ends (NODE_V8_COVERAGE, e.g. by c8).
import type { ChildProcess } from 'node:child_process';
import { killChild } from '../base/killChild.js';
import { procStat } from './processTree.js';

/** Time limit for the end of the children, in milliseconds. Many of them write large files at once. */
const LIMIT_MS = 30_000;
const POLL_MS = 5;

const children = new Set<ChildProcess>();

/** Whether Node measures the coverage of this process. */
export function isCovered(): boolean {
  return Boolean(process.env['NODE_V8_COVERAGE']);
}

/** Lets a child write its coverage before this program ends, because tools read the files then. */
export function awaitCoverage(child: ChildProcess): void {
  if (!isCovered()) return;
  if (children.size === 0) process.once('exit', endChildren);
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', endChildren);
  });
}

function endChildren(): void {
  for (const child of children) killChild(child, 'SIGTERM');
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < LIMIT_MS && [...children].some(isRunning); waited += POLL_MS)
    Atomics.wait(never, 0, 0, POLL_MS);
}

/** Reads the state from the system, because Node notices the end of a child in a turn of the event loop. */
function isRunning({ pid }: ChildProcess): boolean {
  const state = procStat(String(pid))?.(3);
  return state !== undefined && state !== 'Z';
}

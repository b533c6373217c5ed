// Files of /proc and /sys that are read repeatedly: opened once, and read from their beginning each time. Reading takes half
// the time then. A file of an ended process also never becomes the file of another process with the same number.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { attempt } from '../base/errors.js';
import { listDirectory, readProc } from './processTree.js';

/** Bytes at which longer files are cut off. The files read here have some kilobytes. */
const MAX_BYTES = 1 << 16;

const buffer = Buffer.allocUnsafe(MAX_BYTES);
const descriptors = new Map<string, number>();

/** Returns the present content of a file of /proc; empty if there is none, or if the process has ended. */
export const rereadProc = (path: string): string => reread(`/proc/${path}`);

/** Returns the present content of a file that the kernel computes. */
export function reread(path: string): string {
  let descriptor = descriptors.get(path);
  try {
    if (descriptor === undefined) {
      descriptor = openSync(path, 'r');
      descriptors.set(path, descriptor);
    }
    return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, MAX_BYTES, 0));
  } catch {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptors.delete(path);
    return '';
  }
}

let pageBytes = 0;

/** Returns the resident bytes of a process; NaN once it has ended. */
export function residentBytes(pid: number): number {
  // A process that has ended, and whose parent has not yet asked for its exit code, has a file of zeros.
  const pages = Number(rereadProc(`${pid}/statm`).split(' ')[1]) || Number.NaN;
  if (pageBytes === 0) pageBytes = measurePage();
  return pages * pageBytes;
}

/** Derives the size of a page, which no file states: one file counts memory in pages and another in kilobytes. */
function measurePage(): number {
  const pages = Number((readProc('self/statm') ?? '').split(' ')[1]);
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc('self/status') ?? '')?.[1]);
  const size = 2 ** Math.round(Math.log2((1024 * kilobytes) / pages));
  return Math.max(4096, size || 0);
}

/**
 * Returns the open file descriptors of a process; NaN once it has ended. Linux reports their number since 6.2; older
 * versions need a listing.
 */
export function openDescriptors(pid: number): number {
  const size = attempt(() => statSync(`/proc/${pid}/fd`).size, Number.NaN);
  return size === 0 ? listDirectory(`/proc/${pid}/fd`).length || Number.NaN : size;
}

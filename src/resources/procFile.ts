// Files of /proc that are read again and again: opened once, read from their beginning each time. That takes half the time,
// and a file of a process that has ended never turns into one of another process with the same number.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { listDirectory, readProc } from './processTree.js';

/** Longer files are cut off here; those that are read are some kilobytes long. */
const MAX_BYTES = 1 << 16;

const buffer = Buffer.allocUnsafe(MAX_BYTES);
const descriptors = new Map<string, number>();

/** A file of /proc as it is now; empty if there is none, or the process is gone. */
export function rereadProc(path: string): string {
  let descriptor = descriptors.get(path);
  try {
    if (descriptor === undefined) {
      descriptor = openSync(`/proc/${path}`, 'r');
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

/** Resident bytes of a process; NaN once it is gone. */
export function residentBytes(pid: number): number {
  const pages = Number(rereadProc(`${pid}/statm`).split(' ')[1] ?? Number.NaN);
  if (pageBytes === 0) pageBytes = measurePage();
  return pages * pageBytes;
}

/** Nobody tells the size of a page, but one file counts memory in pages and another in kilobytes. */
function measurePage(): number {
  const pages = Number((readProc('self/statm') ?? '').split(' ')[1]);
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc('self/status') ?? '')?.[1]);
  const size = 2 ** Math.round(Math.log2((1024 * kilobytes) / pages));
  return Math.max(4096, size || 0);
}

/** Open file descriptors of a process; NaN once it is gone. Since 6.2 Linux tells their number, before it lists them. */
export function openDescriptors(pid: number): number {
  try {
    const { size } = statSync(`/proc/${pid}/fd`);
    return size > 0 ? size : listDirectory(`/proc/${pid}/fd`).length || Number.NaN;
  } catch {
    return Number.NaN;
  }
}

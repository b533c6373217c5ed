// Tasks that report for which memory of their process huge pages are requested.
import { readFileSync } from 'node:fs';
import { tasks } from 'longpole';
import { weigh } from '#internal/engine/worker/sharedWeight.js';

/** Returns the bytes of this process for which huge pages are requested: mappings with the flag `hg`. */
function requested(): number {
  let bytes = 0;
  for (const mapping of readFileSync('/proc/self/smaps', 'utf8').split(/\n(?=[0-9a-f]+-)/)) {
    if (/^VmFlags:.* hg\b/m.test(mapping)) bytes += 1024 * Number(/^Size: +(\d+) kB/m.exec(mapping)?.[1]);
  }
  return bytes;
}

export const { hugePages } = tasks(import.meta.url, {
  /** Returns for how many of `nbytes` huge pages are requested, as a shared buffer and as its weight. */
  hugePages(nbytes: number): { readonly buffer: number; readonly weight: number } {
    const before = requested();
    const buffer = new SharedArrayBuffer(nbytes);
    const after = requested();
    weigh(buffer);
    // The next buffer makes the first one count at once.
    weigh(new SharedArrayBuffer(64 * 1024));
    return { buffer: after - before, weight: requested() - after };
  },
});

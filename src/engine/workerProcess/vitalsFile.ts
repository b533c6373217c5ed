// The file to which a worker process copies the vitals of its isolate. The monitor thread of another process reads it
// there, also while both main threads are busy.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { VITALS_INTERVAL } from '../../protocol/isolateMessages.js';

/** Returns the path of a worker's file, which is deleted with the worker's other files. */
export function vitalsFile(worker: {
  readonly directory: string;
  readonly name: string;
  readonly index: number;
}): string {
  return join(worker.directory, `${worker.name}-${worker.index}.vitals`);
}

/** Copies the vitals, 64 bytes, in place ten times a second. Does not keep the process alive. */
export function writeVitals(path: string, vitals: () => Float64Array): void {
  let file: number | undefined;
  const write = (): void => {
    const { buffer, byteOffset, byteLength } = vitals();
    try {
      file ??= openSync(path, 'w');
      writeSync(file, new Uint8Array(buffer, byteOffset, byteLength), 0, byteLength, 0);
    } catch {
      // The disk is full or the directory was deleted. The vitals are unknown then.
      clearInterval(timer);
      if (file !== undefined) closeSync(file);
      file = undefined;
    }
  };
  const timer = setInterval(write, VITALS_INTERVAL * 1000).unref();
  write();
}

// Where a worker process copies what its isolate says about itself: the monitor thread of another process reads it there, also
// while both main threads are busy.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { VITALS_INTERVAL } from '../../protocol/isolateMessages.js';

/** The file of a worker; it goes with the other files of the worker. */
export function vitalsFile(worker: {
  readonly directory: string;
  readonly name: string;
  readonly index: number;
}): string {
  return join(worker.directory, `${worker.name}-${worker.index}.vitals`);
}

/** Copies the vitals ten times a second, in place: 64 bytes. Keeps nothing alive. */
export class VitalsWriter {
  readonly #timer: NodeJS.Timeout;
  #file: number | undefined;

  constructor(path: string, vitals: () => Float64Array) {
    const write = (): void => {
      const { buffer, byteOffset, byteLength } = vitals();
      try {
        this.#file ??= openSync(path, 'w');
        writeSync(this.#file, new Uint8Array(buffer, byteOffset, byteLength), 0, byteLength, 0);
      } catch {
        // A full disk, or the directory is gone: the figures are not known then.
        this.close();
      }
    };
    write();
    this.#timer = setInterval(write, VITALS_INTERVAL * 1000);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

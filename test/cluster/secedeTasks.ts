// Tasks that leave the slot of their thread.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contextMeter, secede, tasks } from 'longpole';

async function gate(folder: string, name: string): Promise<void> {
  writeFileSync(join(folder, `${name}.started`), '');
  while (!existsSync(join(folder, `${name}.open`))) await new Promise((resolve) => setTimeout(resolve, 2));
}

function countCall(path: string): number {
  // A process that is killed here must not leave a file with fewer calls, as writeFileSync does.
  appendFileSync(path, 'x');
  return readFileSync(path).length;
}

export const { leave, leaveLate, leaveAndFail, leaveAndExit, leaveSync, outlive } = tasks(import.meta.url, {
  /** Secedes before its first `await`, and waits for the gate. */
  async leave(folder: string, name: string, value: number) {
    void secede();
    await gate(folder, name);
    return value;
  },
  /** Secedes after an `await`, and again, and measures itself. */
  async leaveLate(folder: string, name: string, value: number) {
    await new Promise((resolve) => setImmediate(resolve));
    await secede();
    await secede();
    using _ = contextMeter.meter('waiting');
    contextMeter.digestMetric('read', value, 'bytes');
    await gate(folder, name);
    return value;
  },
  /** Secedes and throws in the first `times` calls. */
  async leaveAndFail(folder: string, name: string, times: number) {
    await secede();
    await gate(folder, name);
    const calls = countCall(join(folder, 'calls'));
    if (calls <= times) throw new RangeError(`call ${calls}`);
    return calls;
  },
  /** Ends its isolate after it has seceded. */
  async leaveAndExit(folder: string, name: string, times: number) {
    await secede();
    await gate(folder, name);
    const calls = countCall(join(folder, 'calls'));
    if (calls <= times) process.exit(7);
    return calls;
  },
  /** A function without a promise has nothing to wait for. */
  leaveSync(value: number) {
    void secede();
    return value;
  },
  /** Secedes, and writes a file when its code ends. */
  async outlive(folder: string, name: string) {
    await secede();
    await gate(folder, name);
    writeFileSync(join(folder, `${name}.ended`), '');
  },
});

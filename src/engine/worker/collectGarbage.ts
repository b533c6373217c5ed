// Garbage collection at once, for isolates that have let go of much.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let gc: (() => void) | undefined;

/** V8 collects when it likes; what lies outside its heap hurries it little. */
export function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    gc = typeof found === 'function' ? () => void Reflect.apply(found, undefined, []) : () => undefined;
  }
  gc();
}

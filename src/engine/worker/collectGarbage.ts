// Collects garbage at once, for isolates that have released much memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let gc: (() => void) | undefined;

/** Forces a collection. Memory outside V8's heap hardly makes V8 collect earlier. */
export function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    gc = typeof found === 'function' ? () => void Reflect.apply(found, undefined, []) : () => undefined;
  }
  gc();
}

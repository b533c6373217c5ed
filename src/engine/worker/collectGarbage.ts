// Collects garbage at once, for isolates that have released much memory.
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let gc: (() => void) | undefined;

/** Forces a collection. Memory outside V8's heap hardly makes V8 collect earlier. */
export function collectGarbage(): void {
  gc ??= collector();
  gc();
}

function collector(): () => void {
  const before = cachedDataVersionTag();
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  // With other options than at its start, V8 would reject what it has kept of compiled scripts, also in new threads.
  if (cachedDataVersionTag() !== before) setFlagsFromString('--no-expose-gc');
  return typeof found === 'function' ? () => void Reflect.apply(found, undefined, []) : () => undefined;
}

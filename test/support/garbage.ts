// Garbage collection on demand, for tests of weak references.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const exposed: unknown = runInNewContext('gc');

/** Turns of the event loop in which V8 runs the finalizers of all registries, one registry per task. */
const FINALIZER_TURNS = 5;
/** Collections after which a remaining object must still be referenced. */
const MAX_ROUNDS = 200;

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Collects garbage, and lets finalizers run. */
export async function collectGarbage(): Promise<void> {
  if (typeof exposed !== 'function') throw new Error('V8 does not expose its garbage collector.');
  // A WeakRef holds its object until the turn ends.
  await turn();
  exposed();
  for (let i = 0; i < FINALIZER_TURNS; i++) await turn();
}

/**
 * Calls a function and collects the objects that it returns. Fails if another reference holds one of them. The
 * function must not keep them in outer variables.
 */
export async function dropped(make: () => readonly object[]): Promise<void> {
  const references = referencesTo(make);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await collectGarbage();
    if (references.every((reference) => reference.deref() === undefined)) {
      // The last collection may have scheduled finalizers of the objects, which run during the next one.
      await collectGarbage();
      return;
    }
  }
  throw new Error('Something holds an object that was dropped.');
}

/** A separate function, so that no register of the caller holds the objects. */
function referencesTo(make: () => readonly object[]): WeakRef<object>[] {
  return make().map((object) => new WeakRef(object));
}

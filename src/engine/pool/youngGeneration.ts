// The size of the young generation with which V8 starts the isolates of this process.
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';

/** Default size of a semi-space at which V8 stops to grow it in Node 20. V8 starts with 1 MiB. */
const SEMI_SPACE_MIB = 16;

let isDone = false;

/**
 * Lets threads that start from now on begin with large semi-spaces, once per process. V8 enlarges small ones only by collections
 * in the middle of tasks, which copy what the tasks still use. See docs/decisions/young-generation.md.
 *
 * Does nothing if the program chose a size, or if V8 would reject scripts that it compiled with other options (Node 20 and 22).
 */
export function enlargeYoungGeneration(
  options = `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`,
): void {
  if (isDone) return;
  isDone = true;
  if (/semi[-_]space/.test(options)) return;
  const before = cachedDataVersionTag();
  setFlagsFromString(`--min-semi-space-size=${SEMI_SPACE_MIB}`);
  if (cachedDataVersionTag() !== before) setFlagsFromString('--min-semi-space-size=0');
}

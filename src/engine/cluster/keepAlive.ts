// Keeps the program alive, e.g. while tasks of a cluster run or could run. A busy worker does this by itself. A task may also
// wait for an idle worker: until its death is reported, its isolate is replaced, or its memory has room.

/** The longest delay of a timer. */
const LONG_MS = 2 ** 31 - 1;

/**
 * Returns a function that keeps the program alive or stops doing so.
 *
 * @param poll called again and again while the program is kept alive. Default: nothing is called
 * @param pollMs milliseconds between two calls of `poll`
 */
export function keepAlive(poll: () => void = () => undefined, pollMs = LONG_MS): (held: boolean) => void {
  let timer: NodeJS.Timeout | undefined;
  return (held) => {
    if (held) timer ??= setInterval(poll, pollMs);
    else {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

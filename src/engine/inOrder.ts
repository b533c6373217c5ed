/**
 * Returns a function that carries out instructions in order. Instructions that follow from an earlier one, e.g. from the
 * answer to a steal, wait until those before them are carried out.
 */
export function inOrder<T>(carryOut: (instruction: T) => void): (instructions: readonly T[]) => void {
  const pending: T[] = [];
  let isRunning = false;
  return (instructions) => {
    for (const one of instructions) pending.push(one);
    if (isRunning) return;
    isRunning = true;
    try {
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) carryOut(next);
    } finally {
      isRunning = false;
    }
  };
}

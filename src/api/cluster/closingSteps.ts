// What a cluster or a client does before it closes, e.g. end its recordings.

export type ClosingStep = () => Promise<void> | void;

export class ClosingSteps {
  /** A function may be added twice, so each has an entry of its own. */
  readonly #steps = new Set<{ readonly step: ClosingStep }>();

  /** Adds a step. Returns a function that removes it. */
  add(step: ClosingStep): () => void {
    const entry = { step };
    this.#steps.add(entry);
    return () => void this.#steps.delete(entry);
  }

  /**
   * Runs and removes all steps, one after the other, also if one fails.
   *
   * @param during receives the work of each step, and returns its outcome
   * @throws (rejects) the first error of a step
   */
  async run(during: (work: Promise<void>) => Promise<void>): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    const start = async (step: ClosingStep): Promise<void> => step();
    for (const { step } of this.#steps) {
      try {
        await during(start(step));
      } catch (error) {
        failure ??= { error };
      }
    }
    this.#steps.clear();
    if (failure !== undefined) throw failure.error;
  }
}

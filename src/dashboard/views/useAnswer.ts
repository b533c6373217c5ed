// Analyses that may take a while: computed once per trace after the page was painted, so that no page waits for them.
import { useEffect, useState } from 'preact/hooks';
import type { Trace } from '../../trace/trace.js';

/** After an answer that took a while nobody asks again for so many times as long. */
const PATIENCE = 8;

/** A question to traces; it remembers its answers, and what the last one cost. */
export class AskedOnce<T> {
  readonly #ask: (trace: Trace) => T;
  readonly #answers = new WeakMap<Trace, { readonly value: T }>();
  /** Milliseconds on the page's clock from which on it may be asked again. */
  notBefore = 0;

  constructor(ask: (trace: Trace) => T) {
    this.#ask = ask;
  }

  answer(trace: Trace): T {
    const known = this.#answers.get(trace);
    if (known !== undefined) return known.value;
    const before = performance.now();
    const value = this.#ask(trace);
    const now = performance.now();
    this.notBefore = now + (now - before) * PATIENCE;
    this.#answers.set(trace, { value });
    return value;
  }
}

/** The answer about the trace; the one about an earlier state of it, or undefined, until it is there. */
export function useAnswer<T>(trace: Trace, question: AskedOnce<T>): T | undefined {
  const [answer, setAnswer] = useState<{ readonly value: T } | undefined>(undefined);
  useEffect(() => {
    const wait = answer === undefined ? 0 : Math.max(0, question.notBefore - performance.now());
    const timer = setTimeout(() => setAnswer({ value: question.answer(trace) }), wait);
    return () => clearTimeout(timer);
  }, [trace, question]);
  return answer?.value;
}

// Analyses that may take a while: computed once per trace after the page was painted, so that no page waits for them.
import { useEffect, useState } from 'preact/hooks';
import type { Trace } from '../../trace/trace.js';
import { Rest } from '../model/rest.js';

/** A question to traces; it remembers its answers, and rests after one that cost much. */
export class AskedOnce<T> {
  readonly #ask: (trace: Trace) => T;
  readonly #answers = new WeakMap<Trace, { readonly value: T }>();
  readonly rest = new Rest();

  constructor(ask: (trace: Trace) => T) {
    this.#ask = ask;
  }

  answer(trace: Trace): T {
    const known = this.#answers.get(trace);
    if (known !== undefined) return known.value;
    const value = this.rest.after(() => this.#ask(trace));
    this.#answers.set(trace, { value });
    return value;
  }
}

/** The answer about the trace; the one about an earlier state of it, or undefined, until it is there. */
export function useAnswer<T>(trace: Trace, question: AskedOnce<T>): T | undefined {
  const [answer, setAnswer] = useState<{ readonly value: T } | undefined>(undefined);
  useEffect(() => {
    const wait = answer === undefined ? 0 : question.rest.left;
    const timer = setTimeout(() => setAnswer({ value: question.answer(trace) }), wait);
    return () => clearTimeout(timer);
  }, [trace, question]);
  return answer?.value;
}

// Expensive analyses run after the page was painted, once per trace, so that no page waits for them.
import { useEffect, useState } from 'preact/hooks';
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { flowsOf } from '../model/flows.js';
import { Throttle } from '../model/throttle.js';
import type { ShellState } from './shellState.js';

/** An analysis of traces that caches its results and pauses after an expensive one. */
export class CachedAnalysis<T extends object | string> {
  readonly throttle = new Throttle();
  readonly result: (trace: Trace) => T;

  constructor(analyze: (trace: Trace) => T) {
    this.result = oncePer((trace) => this.throttle.run(() => analyze(trace)));
  }
}

/**
 * Returns the result for the trace. Until it is computed, returns the result for an earlier state of the trace, or
 * undefined.
 */
export function useAnalysis<T extends object | string>(
  trace: Trace,
  analysis: CachedAnalysis<T>,
): T | undefined {
  const [result, setResult] = useState<{ readonly value: T } | undefined>(undefined);
  useEffect(() => {
    const wait = result === undefined ? 0 : analysis.throttle.remaining;
    const timer = setTimeout(() => setResult({ value: analysis.result(trace) }), wait);
    return () => clearTimeout(timer);
  }, [trace, analysis]);
  return result?.value;
}

export function useFlows(state: ShellState, trace: Trace): void {
  const { view } = state;
  const pinned = view.pinned.value;
  const { model } = view;
  useEffect(() => {
    const row = state.selectedRow;
    if (row === undefined) return undefined;
    view.flows.value = flowsOf(trace, row, model.stream);
    return () => {
      view.flows.value = undefined;
    };
  }, [state, view, trace, pinned, model]);
}

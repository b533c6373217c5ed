// Keeps the flows of the selected task in the state while a page with a task stream is shown.
import { useEffect } from 'preact/hooks';
import type { Trace } from '../../trace/trace.js';
import { flowsOf } from '../model/flows.js';
import type { ShellState } from './shellState.js';

export function useFlows(state: ShellState, trace: Trace): void {
  const { view } = state;
  const pinned = view.pinned.value;
  const { model } = view;
  useEffect(() => {
    const row = state.selectedRow;
    const plot = pinned === undefined ? undefined : model.plots[pinned.plot];
    if (row === undefined || plot?.type !== 'tasks') return undefined;
    view.flows.value = flowsOf(trace, row, plot);
    return () => {
      view.flows.value = undefined;
    };
  }, [state, view, trace, pinned, model]);
}

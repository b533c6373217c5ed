// Reports the graphs that tasks of local schedulers run on workers of their own: compute() inside a task.
import type { UnmeasuredWork } from '../../protocol/isolateMessages.js';
import type { BatchProgress } from './asyncTask.js';
import { taskContext } from './taskContext.js';

/**
 * Reports each such graph at its end.
 *
 * @param running returns the batch whose task runs now; undefined if several tasks overlap, so that the task is not known
 */
export function reportNestedGraphs(
  clock: () => number,
  running: () => Pick<BatchProgress, 'batch' | 'next'> | undefined,
  report: (work: UnmeasuredWork) => void,
): void {
  taskContext.graphBegins = (graph) => {
    const progress = running();
    const [run, id] = [progress?.batch.run, progress?.batch.ids[progress.next]];
    const start = clock();
    return () => {
      if (run === undefined || id === undefined) return;
      report({ action: 'graph', start, stop: clock(), run, id, nbytes: 0, graph });
    };
  };
}

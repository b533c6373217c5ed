// The steps in the life of a task and the time between them, for the tooltip and the side bar.
import type { Trace } from '../../trace/trace.js';
import { formatBytes, formatDuration } from './format.js';
import type { RunFact } from './profileModel.js';

const STEPS = [
  'submitted',
  'ready',
  'dispatched',
  'received',
  'started',
  'seceded',
  'resumed',
  'stopped',
  'acknowledged',
] as const;

export interface LifecycleStep {
  readonly name: (typeof STEPS)[number];
  /** Epoch seconds. */
  readonly time: number;
  readonly previous: LifecycleStep | undefined;
}

/** Returns the steps that the trace has, in order. */
export function lifecycleSteps({ tasks }: Trace, row: number): LifecycleStep[] {
  const steps: LifecycleStep[] = [];
  for (const name of STEPS) {
    const time = tasks[name][row]!;
    if (!Number.isNaN(time)) steps.push({ name, time, previous: steps.at(-1) });
  }
  return steps;
}

/** Returns the time between steps, the size of the result, and the span. */
export function lifecycleFacts(trace: Trace, row: number): RunFact[] {
  const { tasks, strings } = trace;
  if (row >= tasks.length) return [];
  const facts: RunFact[] = lifecycleSteps(trace, row).flatMap(({ name, time, previous }) =>
    previous === undefined
      ? []
      : [{ name: `${previous.name} → ${name}`, value: formatDuration(Math.max(0, time - previous.time)) }],
  );
  if (tasks.nbytes[row]! > 0) facts.push({ name: 'Result', value: formatBytes(tasks.nbytes[row]!) });
  const span = tasks.span[row]!;
  if (span >= 0 && strings.get(span) !== 'default') facts.push({ name: 'Span', value: strings.get(span) });
  return facts;
}

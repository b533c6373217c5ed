// The stations that a task went through, with how long it waited for each: for the tooltip and the side bar.
import type { Trace } from '../../trace/trace.js';
import { formatBytes, formatDuration } from './format.js';
import type { RunFact } from './profileModel.js';

const STATIONS = [
  'submitted',
  'ready',
  'dispatched',
  'received',
  'started',
  'stopped',
  'acknowledged',
] as const;

export interface PassedStation {
  readonly name: (typeof STATIONS)[number];
  /** Epoch seconds. */
  readonly time: number;
  /** The one before that is known. */
  readonly before: PassedStation | undefined;
}

/** Those that the trace knows, in order. */
export function passedStations({ tasks }: Trace, row: number): PassedStation[] {
  const passed: PassedStation[] = [];
  for (const name of STATIONS) {
    const time = tasks[name][row]!;
    if (!Number.isNaN(time)) passed.push({ name, time, before: passed.at(-1) });
  }
  return passed;
}

/** Seconds between stations, the size of the result and the span, for the tooltip. */
export function lifecycleFacts(trace: Trace, row: number): RunFact[] {
  const { tasks, strings } = trace;
  if (row >= tasks.length) return [];
  const facts: RunFact[] = passedStations(trace, row).flatMap(({ name, time, before }) =>
    before === undefined
      ? []
      : [{ name: `${before.name} → ${name}`, value: formatDuration(Math.max(0, time - before.time)) }],
  );
  if (tasks.nbytes[row]! > 0) facts.push({ name: 'Result', value: formatBytes(tasks.nbytes[row]!) });
  const span = tasks.span[row]!;
  if (span >= 0 && strings.get(span) !== 'default') facts.push({ name: 'Span', value: strings.get(span) });
  return facts;
}

// The printed form of a trace: its size instead of its columns.

import { rangeOf } from '../base/lookUps.js';
import { INSPECT } from '../base/printed.js';
import { countText, secondsText } from '../base/words.js';
import type { Trace } from './trace.js';

/**
 * Adds the printed form to a trace. The properties are not enumerable, so that the trace stays a plain object of
 * tables.
 */
export function printable<T extends Trace>(trace: T): T {
  const text = { value: () => printedTrace(trace), enumerable: false };
  return Object.defineProperties(trace, { toString: text, [INSPECT]: text });
}

function printedTrace({ tasks, workers, events, damage, evicted }: Trace): string {
  const [first, last] = [rangeOf(tasks.started).start, rangeOf(tasks.stopped).stop];
  const parts = [
    countText(tasks.length, 'task'),
    countText(workers.length, 'worker'),
    ...(last >= first ? [secondsText(last - first)] : []),
    ...(events.time.length > 0 ? [countText(events.time.length, 'event')] : []),
    ...(evicted.tasks > 0 ? [`${countText(evicted.tasks, 'earlier task')} evicted`] : []),
    ...(damage === undefined ? [] : [`damaged: ${damage.reason}`]),
  ];
  return `<Trace: ${parts.join(', ')}>`;
}

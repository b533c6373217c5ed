import { countText, secondsText } from '../../base/words.js';
import { blockedSeconds, WORKER_BLOCKED } from '../../protocol/eventTopics.js';
import type { Trace } from '../../trace/trace.js';
import { overlapSeconds, type Span } from '../spans.js';
import type { Rule } from './finding.js';

/**
 * The event loops of Dask workers were blocked, so that these neither received tasks nor reported results. The cost is the part
 * of the path that waited for the scheduler meanwhile.
 */
export const blockedWorkers: Rule = (facts) => {
  const blocked = blockedSpans(facts.trace);
  if (blocked.length === 0) return undefined;
  const waits = [...facts.parts('waiting for the scheduler')].sort((a, b) => a.start - b.start);
  const seconds = overlapSeconds(waits, blocked);
  if (seconds === 0) return undefined;
  const workers = new Set(blocked.map(({ worker }) => worker)).size;
  const worst = Math.max(...blocked.map(({ start, stop }) => stop - start));
  return {
    code: 'blocked-workers',
    title: `${countText(workers, 'worker')} did not answer for up to ${secondsText(worst)}, because the event loop there was blocked`,
    seconds,
    confidence: 'medium',
    text: `The event loops of workers were blocked ${countText(blocked.length, 'time')}. Tasks on the critical path waited ${secondsText(seconds)} meanwhile: such a worker neither receives tasks nor reports results.`,
    numbers: { worstDelaySeconds: worst, workers, times: blocked.length },
    tasks: facts.pathTasks('waiting for the scheduler'),
    question: 'queueing',
    advice:
      "Look for modules that tasks import, plugins of the workers, calls of 'client.run', and tasks that hold the GIL for long in compiled code. A stopped process looks the same.",
  };
};

function blockedSpans({ events, strings }: Trace): (Span & { readonly worker: number })[] {
  const spans: (Span & { readonly worker: number })[] = [];
  for (let row = 0; row < events.length; row++) {
    const [topic, text] = [events.topic[row]!, events.text[row]!];
    if (topic < 0 || text < 0 || strings.get(topic) !== WORKER_BLOCKED) continue;
    const stop = events.time[row]!;
    const seconds = blockedSeconds(strings.get(text));
    if (seconds > 0) spans.push({ start: stop - seconds, stop, worker: events.worker[row]! });
  }
  return spans;
}

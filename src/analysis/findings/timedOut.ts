// The tasks that were ended because they exceeded their option `timeout`.
import { countText, secondsText } from '../../base/words.js';
import { TASK_FAILED } from '../../protocol/eventTopics.js';
import type { Trace } from '../../trace/trace.js';
import type { DiedTask } from '../diedTasks.js';
import type { Facts, Found } from './finding.js';

/** Matches the error of such a task: its key, and the timeout in seconds. */
const MESSAGE = /^Task '(.*)' \(function .*\) was ended after [\d.]+ s: its timeout is ([\d.e+-]+) s\./;

/** Returns the timeouts in seconds of the tasks that exceeded them, by key. */
export function exceededTimeouts({ events, strings }: Trace): ReadonlyMap<string, number> {
  const timeouts = new Map<string, number>();
  for (let row = 0; row < events.length; row++) {
    if (strings.get(events.topic[row]!) !== TASK_FAILED) continue;
    const [, key, seconds] = MESSAGE.exec(strings.get(events.text[row]!)) ?? [];
    if (key !== undefined) timeouts.set(key, Number(seconds));
  }
  return timeouts;
}

/** Returns the finding for these tasks. It costs the time for which they held their threads, divided by the number of threads. */
export function timedOut(facts: Facts, died: readonly DiedTask[], timeouts: ReadonlySet<number>): Found {
  const { tasks } = facts.trace;
  const rows = died.flatMap(({ lost }) => lost);
  const held = rows.reduce(
    (sum, row) => sum + Math.max(0, tasks.acknowledged[row]! - tasks.dispatched[row]!),
    0,
  );
  const name = facts.prefixName(tasks.prefix[rows[0]!]!);
  const [timeout] = timeouts;
  const limit = timeouts.size === 1 && timeout !== undefined ? ` of ${secondsText(timeout)}` : '';
  const isOne = died.length === 1;
  return {
    code: 'lost-work',
    title: `${countText(died.length, 'task')} exceeded ${isOne ? 'its' : 'their'} timeout${limit} and ${isOne ? 'has' : 'have'} no result: '${name}'`,
    seconds: Math.min(facts.makespan, held / facts.workers),
    confidence: 'high',
    text: `Until the timeout, ${isOne ? 'it' : 'they'} held threads for ${secondsText(held)} in total. These threads were replaced.`,
    numbers: { tasks: died.length, heldSeconds: held, workers: facts.workers },
    tasks: facts.keys(died.map(({ row }) => row)),
    question: 'worker-balance',
    advice: `Give what '${name}' waits for a time limit of its own, e.g. AbortSignal.timeout() for requests. Or raise the timeout, or divide the task.`,
  };
}

import { addTo, largestOf } from '../../base/lookUps.js';
import { percentText, secondsText } from '../../base/words.js';
import { PLUGIN } from '../../protocol/metrics.js';
import { coreUseOf } from '../coreUse.js';
import type { Facts, Rule } from './finding.js';
import { metricSeconds } from './metricSeconds.js';

/**
 * A plugin of the workers computes in its `transition` before and after each task, on the thread and in the time of the task. The cost
 * is this time, without the share of waits for a core that tasks had.
 */
export const workerPlugin: Rule = (facts) => {
  const worst = largestOf(pluginSeconds(facts));
  if (worst === undefined) return undefined;
  const [plugin, seconds] = worst;
  const { trace } = facts;
  const [prefix] = largestOf(metricSeconds(trace, `${PLUGIN}${plugin}`).byPrefix) ?? [''];
  return {
    code: 'worker-plugin',
    title: `The worker plugin ${shortName(plugin)} takes ${percentText(Math.min(1, seconds / facts.work))} of the time of tasks`,
    seconds: facts.secondsOfRun(seconds * (1 - coreUseOf(trace).lost)),
    confidence: 'high',
    text: `Its transition() ran before and after tasks, for ${secondsText(seconds)} in total, mostly for tasks of '${prefix}'. The times of these tasks contain it.`,
    numbers: { pluginSeconds: seconds, workers: facts.workers },
    tasks: facts.keys(facts.rowsOf(new Set([prefix]))),
    question: 'time-by-prefix',
    advice:
      'Do less in its transition(): note there what it needs, and write, send or sum it later, e.g. in a timer.',
  };
};

function pluginSeconds({ trace }: Facts): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  const activities = new Set(trace.totals.metrics.map(({ activity }) => activity));
  for (const activity of activities)
    if (activity.startsWith(PLUGIN))
      addTo(seconds, activity.slice(PLUGIN.length), metricSeconds(trace, activity).total);
  return seconds;
}

/** Returns the name without the folder of its module, e.g. `watch.mjs#default`. */
function shortName(plugin: string): string {
  return plugin.startsWith('file:') ? plugin.slice(plugin.lastIndexOf('/') + 1) : `'${plugin}'`;
}

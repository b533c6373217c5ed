import { countText, secondsText } from '../../base/words.js';
import { programStops } from '../programStops.js';
import { overlapSeconds } from '../spans.js';
import type { Rule } from './finding.js';

/** The program was stopped while a task was in progress. The cost is this time. */
export const stoppedProgram: Rule = (facts) => {
  const stops = programStops(facts.trace);
  const seconds = overlapSeconds(stops, [facts.path]);
  if (seconds === 0) return undefined;
  return {
    code: 'stopped-program',
    title: `The program did not run for ${secondsText(seconds)}: it was stopped, or its machine slept`,
    seconds,
    confidence: 'medium',
    text: `Neither the scheduler nor the thread that takes samples of this machine did anything in ${countText(stops.length, 'part')} of the run, for 2 s or longer. Ctrl-Z, SIGSTOP, a debugger or a machine without free memory does this.`,
    numbers: { stoppedSeconds: seconds, stops: stops.length },
    tasks: [],
    question: 'critical-path',
    advice: 'Run the program again without a stop: the times of its tasks contain it.',
  };
};

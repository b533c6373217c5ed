// Computes how long a program ran before its first computation and after its last result.
import { checkArgument, TRACE } from '../base/arguments.js';
import { CLUSTER, PROGRAM } from '../protocol/eventTopics.js';
import { eventsOf, type Trace } from '../trace/trace.js';
import { cutOffTexts } from './cutOff.js';
import { wholeWindow } from './path/pathWalk.js';
import { overlapSeconds, type Span } from './spans.js';

/** The times of a program outside of its computations, in seconds. */
export interface ProgramTimes {
  /** From the start of its process to its first computation, with the start of Node and the import of modules. */
  readonly before: number;
  /** Of `before`, the time until its clusters had started, with their workers or the connection to them. */
  readonly starting: number;
  /** From its last result to the end of its process; 0 if the end is not recorded, or if tasks had not ended. */
  readonly after: number;
}

/** Returns these times; undefined if `longpole run` did not record the program, or if no task ran. */
export function programTimes(trace: Trace): ProgramTimes | undefined {
  checkArgument('programTimes(): trace', trace, TRACE);
  const { start, stop } = wholeWindow(trace);
  let [begin, end] = [Number.NaN, Number.NaN];
  for (const { topic, time } of eventsOf(trace, PROGRAM.begin, PROGRAM.end)) {
    if (topic === PROGRAM.begin) begin = time;
    else end = time;
  }
  if (!(start >= begin)) return undefined;
  return {
    before: start - begin,
    // Clusters may start at the same time.
    starting: overlapSeconds([{ start: begin, stop: start }], clusterStarts(trace)),
    // Tasks that were cut off may have run until the end.
    after: end > stop && cutOffTexts(trace).length === 0 ? end - stop : 0,
  };
}

/** Returns the times in which clusters of the program started, with their workers or the connection to them. */
export function clusterStarts(trace: Trace): readonly Span[] {
  let start = Number.NaN;
  const starts: Span[] = [];
  for (const { topic, time } of eventsOf(trace, CLUSTER.begin, CLUSTER.end)) {
    if (topic === CLUSTER.begin) start = time;
    else starts.push({ start, stop: time });
  }
  return starts;
}

// Finds whether a simulation can stand for a run. The model has no pauses, no lost workers and no tasks that are bound to
// workers, so this time would become part of the calibration, and a prediction would scale it with the tasks.
import { countText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { lanesOf } from '../lanes.js';
import { lostWorkers, workerEnds } from '../lostWork.js';
import { pausesOf } from '../pauses.js';

/** Ratio of the recording to its simulation, or the reverse, from which the simulation is another run. */
const FAR = 1.5;

/**
 * Returns a sentence that says why predictions are left out; undefined if the simulation is close to the recording, or if
 * nothing happened that the model lacks.
 *
 * @param simulated seconds of the simulated recorded conditions
 * @param recorded seconds that these stand for
 */
export function unfitText(trace: Trace, simulated: number, recorded: number): string | undefined {
  if (!(recorded > FAR * simulated || simulated > FAR * recorded)) return undefined;
  const lost = lostWorkers(trace).length;
  const unused = unusedWorkers(trace);
  const repeated = rerunCount(trace);
  const pauses = [...pausesOf(trace).values()].reduce((sum, spans) => sum + spans.length, 0);
  const troubles = [
    lost === 0 ? '' : `${countText(lost, 'worker')} ${lost === 1 ? 'was' : 'were'} lost`,
    unused === 0 || simulated > recorded ? '' : `${countText(unused, 'worker')} ran no task`,
    repeated === 0 ? '' : `${countText(repeated, 'task')} ran again`,
    pauses === 0 ? '' : `workers made ${countText(pauses, 'pause')}`,
  ].filter((text) => text !== '');
  if (troubles.length === 0) return undefined;
  return `A simulation cannot stand for this run: ${troubles.join(', ')}. The simulation has none of this, and takes ${secondsText(simulated)} instead of ${secondsText(recorded)}.`;
}

/** Returns the number of workers that were there in the first half of the tasks' time and until its end, and ran none. */
function unusedWorkers(trace: Trace): number {
  const { worker, spans, stop } = lanesOf(trace);
  const { rows } = spans;
  if (rows.length === 0) return 0;
  const first = rows.reduce(
    (least, row) => Math.min(least, trace.tasks.started[row]!),
    Number.POSITIVE_INFINITY,
  );
  const last = rows.reduce((most, row) => Math.max(most, stop[row]!), first);
  const used = new Set(worker);
  const ends = workerEnds(trace);
  const isThere = (row: number): boolean =>
    !(trace.workers.started[row]! > (first + last) / 2) && !(ends[row]! < last);
  return ends.filter((_end, row) => !used.has(row) && isThere(row)).length;
}

/** Returns the number of runs of tasks that had finished before. */
function rerunCount(trace: Trace): number {
  const { id } = trace.tasks;
  const { rows } = lanesOf(trace).spans;
  return rows.length - new Set(Array.from(rows, (row) => id[row]!)).size;
}

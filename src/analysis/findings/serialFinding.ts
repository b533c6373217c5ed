// What both rules say of a stretch of time in which one task ran after the other.
import { percentText, secondsText } from '../../base/words.js';
import { stragglersOf } from '../stragglers.js';
import type { Facts, Finding } from './finding.js';

/** Tasks at the same time up to which a stretch counts as serial. */
export const SERIAL = 1.05;
/** Of the makespan. */
export const MIN_SHARE = 0.1;
/** Outside the stretch this share of the threads must be busy: else the whole run is serial. */
export const MIN_BUSY = 0.5;

/** Of a serial stretch: the prefix that takes more of it is what runs. */
const OWN_SHARE = 0.9;

/** Undefined: most of the stretch is one straggler, which has a rule of its own. */
export function serialFinding(
  facts: Facts,
  code: 'serial-tail' | 'serial-stretch',
  start: number,
  stop: number,
): Finding | undefined {
  const { makespan, workers, path, trace } = facts;
  const { started, stopped, prefix } = trace.tasks;
  const seconds = stop - start;
  const inside = (row: number): number => Math.min(stopped[row]!, stop) - Math.max(started[row]!, start);
  const rows = Array.from(facts.lanes.spans.rows.filter((row) => inside(row) > 0)).sort(
    (a, b) => inside(b) - inside(a),
  );
  if (stragglersOf(trace).some(({ row }) => inside(row) > seconds / 2)) return undefined;
  const name = rows[0] === undefined ? '' : facts.prefixName(prefix[rows[0]]!);
  const own = rows.reduce((sum, row) => sum + (prefix[row] === prefix[rows[0]!] ? inside(row) : 0), 0);
  const what = own > OWN_SHARE * seconds ? `only '${name}' runs` : 'one task after the other runs';
  const idle = `${workers - 1} of ${workers} threads ${workers === 2 ? 'has' : 'have'} nothing to do`;
  const isTail = code === 'serial-tail';
  const when = isTail ? 'At the end' : `After ${secondsText(start - path.start)}`;
  const part = isTail
    ? `The last ${percentText(seconds / makespan)}`
    : `A stretch of ${percentText(seconds / makespan)}`;
  return {
    code,
    title: `${when} ${what} for ${secondsText(seconds)}, while ${idle}`,
    seconds: seconds * (1 - 1 / workers),
    confidence: 'high',
    evidence: {
      text: `${part} of the run is serial, most of it '${name}'.`,
      numbers: { serialSeconds: seconds, start, stop, makespan, workers, tasks: rows.length },
      tasks: facts.keys(rows),
      question: 'concurrency',
    },
    advice: `Split '${name}', combine results in a tree instead of one after the other, or start what it needs earlier.`,
  };
}

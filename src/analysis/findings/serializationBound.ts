import { addTo, largestOf } from '../../base/lookUps.js';
import { bytesText, percentText, secondsText } from '../../base/words.js';
import { ACTIONS } from '../../protocol/clusterObserver.js';
import type { Trace } from '../../trace/trace.js';
import { recordsTransfers } from '../programTransfers.js';
import type { Facts, Rule } from './finding.js';
import { keptShare, metricSeconds } from './metricSeconds.js';

/**
 * The critical path waited while threads packed or unpacked results between their tasks. The cost is this time, and the
 * sum of intervals that were too short to be recorded, divided by the mean concurrency.
 */
export const serializationBound: Rule = (facts) => {
  const onPath = facts.onPath('serialization');
  const packed = recorded(facts, 'serialize');
  const unpacked = recorded(facts, 'deserialize');
  const all = packed.seconds + unpacked.seconds;
  const nbytes = packed.nbytes + unpacked.nbytes;
  const unseen = unseenSeconds(facts, all);
  const speed =
    packed.nbytes > 0 && packed.seconds > 0 ? ` (${bytesText(packed.nbytes / packed.seconds)}/s)` : '';
  // The metrics also have the times of runs that did not delay the path.
  const seconds = Math.min(facts.makespan, onPath + facts.secondsOfRun(unseen));
  if (seconds === 0) return undefined;
  const done = [
    packed.seconds > 0 ? `${secondsText(packed.seconds)} to pack ${bytesText(packed.nbytes)}${speed}` : '',
    unpacked.seconds > 0 ? `${secondsText(unpacked.seconds)} to unpack ${bytesText(unpacked.nbytes)}` : '',
  ].filter((text) => text !== '');
  const worst = worstPrefix(facts);
  const whose = worst === undefined ? '' : `, most of it for results of '${worst}'`;
  return {
    code: 'serialization-bound',
    title: `Threads pack and unpack results for ${secondsText(seconds)} of the run instead of computing`,
    seconds,
    confidence: 'high',
    text: `This is ${percentText(seconds / facts.makespan)} of the critical path.${done.length === 0 ? '' : ` All threads together took ${done.join(' and ')}${whose}.`}`,
    numbers: {
      pathSeconds: onPath,
      packSeconds: packed.seconds,
      unpackSeconds: unpacked.seconds,
      unseenSeconds: unseen,
      nbytes,
      workers: facts.workers,
    },
    tasks: facts.pathTasks('serialization'),
    question: 'time-by-action',
    advice: areBuffers(packed, facts)
      ? `The results are ${isFast(packed) ? 'copied at the speed of memory already' : 'typed arrays already, whose packing is a copy'}: return less data, or create and use large values in one task.`
      : facts.isDask
        ? 'Return arrays (NumPy, Arrow) instead of many Python objects, reduce results before they are returned, or use fewer workers with more threads.'
        : `Return typed arrays, which are copied at the speed of memory, instead of many objects or strings. Or create and use the objects in one task.${recordsTransfers(facts.trace) ? ' Or pass intermediate results as Delayed instead of futures, whose results are always packed.' : ''}`,
  };
};

/**
 * Bytes per second above which results must be buffers. Measured: objects 10 to 60 MB/s, typed arrays at least 300
 * MB/s.
 */
const BUFFERS = 200e6;

const PACKING = ACTIONS.indexOf('serialize');

/** Types of results that are copied as a block of memory. */
export const BUFFER_TYPE =
  /^(?:(?:Float|Int|Uint|BigInt|BigUint)\d+(?:Clamped)?Array|ArrayBuffer|SharedArrayBuffer|DataView)$/;

/** Returns whether the results are buffers, by their types, or else by the speed, which is lower without a core. */
function areBuffers(packed: Recorded, { trace }: Facts): boolean {
  return isFast(packed) || 2 * packedBuffers(trace) > packed.nbytes;
}

function isFast({ seconds, nbytes }: Recorded): boolean {
  return nbytes > BUFFERS * seconds;
}

function packedBuffers({ tasks, intervals, strings }: Trace): number {
  const bytes = new Map<number, number>();
  for (let row = 0; row < intervals.length; row++)
    if (intervals.action[row] === PACKING && intervals.task[row]! >= 0)
      bytes.set(intervals.task[row]!, intervals.nbytes[row]!);
  let sum = 0;
  for (let row = 0; row < tasks.length; row++) {
    const type = tasks.resultType[row]!;
    if (type >= 0 && bytes.has(tasks.id[row]!) && BUFFER_TYPE.test(strings.get(type)))
      sum += bytes.get(tasks.id[row]!)!;
  }
  return sum;
}

interface Recorded {
  readonly seconds: number;
  readonly nbytes: number;
}

/**
 * Returns the recorded sums of all threads. If a live trace has dropped rows, they are scaled to the rows that it
 * holds.
 */
function recorded({ trace }: Facts, action: 'serialize' | 'deserialize'): Recorded {
  const kept = keptShare(trace);
  const { seconds = 0, nbytes = 0 } = trace.totals.actions.find((sums) => sums.action === action) ?? {};
  return { seconds: seconds * kept, nbytes: nbytes * kept };
}

/**
 * Returns the seconds in the fine performance metrics that are not recorded as intervals, because each was too short.
 */
function unseenSeconds({ trace }: Facts, recordedSeconds: number): number {
  const counted = metricSeconds(trace, 'serialize').total + metricSeconds(trace, 'deserialize').total;
  return Math.max(0, counted - recordedSeconds);
}

/** Returns the prefix with the most packing time, by metrics, or else, in local runs, by intervals. */
function worstPrefix(facts: Facts): string | undefined {
  const { byPrefix } = metricSeconds(facts.trace, 'serialize');
  return largestOf(byPrefix.size > 0 ? byPrefix : packedByPrefix(facts))?.[0];
}

function packedByPrefix({ trace: { intervals, tasks, strings } }: Facts): Map<string, number> {
  const prefixes = new Map(Array.from(tasks.id, (id, row) => [id, tasks.prefix[row]!]));
  const sums = new Map<string, number>();
  for (let row = 0; row < intervals.length; row++) {
    const prefix = prefixes.get(intervals.task[row]!) ?? -1;
    if (intervals.action[row] !== PACKING || prefix < 0) continue;
    addTo(sums, strings.get(prefix), intervals.stop[row]! - intervals.start[row]!);
  }
  return sums;
}

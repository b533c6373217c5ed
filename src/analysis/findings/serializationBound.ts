import { bytesText, percentText, secondsText } from '../../base/words.js';
import { keptShare } from '../keptShare.js';
import type { Facts, Rule } from './finding.js';
import { metricSeconds } from './metricSeconds.js';

/**
 * The critical path waited while results were packed or unpacked: threads do that between their tasks. Costs that time, and
 * what was too short to be recorded one by one, divided by the threads.
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
  const seconds = onPath + facts.divided(unseen);
  if (seconds === 0) return undefined;
  const worst = worstPrefix(facts);
  const whose = worst === undefined ? '' : `; most of it results of '${worst}'`;
  return {
    code: 'serialization-bound',
    title: `Threads pack and unpack results for ${secondsText(seconds)} of the run instead of computing`,
    seconds,
    confidence: 'high',
    evidence: {
      text: `${percentText(seconds / facts.makespan)} of the critical path. All threads: ${secondsText(packed.seconds)} to pack ${bytesText(packed.nbytes)}${speed}, ${secondsText(unpacked.seconds)} to unpack ${bytesText(unpacked.nbytes)}${whose}.`,
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
    },
    advice: areBuffers(packed)
      ? 'They are copied at the speed of memory already: return less, or let one task make and use what is large.'
      : facts.isDask
        ? 'Return arrays (NumPy, Arrow) instead of many Python objects, reduce results before they are returned, or give fewer workers more threads.'
        : 'Return typed arrays instead of many objects or strings: they are copied at the speed of memory. Or let one task make and use the objects, and return what is small: what no other worker needs is not packed.',
  };
};

/** Bytes per second, beyond which results can be no objects: those were packed with 10 to 60 MB/s, typed arrays with 300 and more. */
const BUFFERS = 200e6;

function areBuffers({ seconds, nbytes }: Recorded): boolean {
  return nbytes > BUFFERS * seconds;
}

interface Recorded {
  readonly seconds: number;
  readonly nbytes: number;
}

/** Of all threads, as far as it was recorded one by one; where rows were let go, as much as those that are there stand for. */
function recorded({ trace }: Facts, action: 'serialize' | 'deserialize'): Recorded {
  const kept = keptShare(trace);
  const { seconds = 0, nbytes = 0 } = trace.totals.actions.find((sums) => sums.action === action) ?? {};
  return { seconds: seconds * kept, nbytes: nbytes * kept };
}

/** What the fine performance metrics count beyond that: each was too short to be an interval. */
function unseenSeconds({ trace }: Facts, recordedSeconds: number): number {
  const counted = metricSeconds(trace, 'serialize').total + metricSeconds(trace, 'deserialize').total;
  return Math.max(0, counted - recordedSeconds);
}

/** Whose results take longest to pack. */
function worstPrefix({ trace }: Facts): string | undefined {
  const sums = [...metricSeconds(trace, 'serialize').byPrefix];
  return sums.sort(([, a], [, b]) => b - a)[0]?.[0];
}

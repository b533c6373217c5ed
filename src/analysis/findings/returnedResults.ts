// The results of local runs that the thread of the program unpacks. Meanwhile it sends no tasks.
import { bytesText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { recordsTransfers } from '../recordsTransfers.js';
import { merged } from '../spans.js';
import { clientSpans, clientTransfers } from './clientTransfers.js';
import { type Facts, type Finding, MIN_COST } from './finding.js';
import { BUFFER_TYPE } from './serializationBound.js';

const MIN_BYTES = 1e6;

/**
 * The thread of the program received and unpacked results of a local run, and the run waited for it. The cost is the part of
 * the critical path with nothing but these copies.
 */
export function returnedResults(facts: Facts): Finding | undefined {
  const { rows, nbytes, onPath } = clientTransfers(facts, 'gather');
  if (nbytes < MIN_BYTES || recordsTransfers(facts.trace) || onPath < MIN_COST * facts.makespan)
    return undefined;
  const spans = merged(clientSpans(facts, 'gather'));
  const all = spans.reduce((sum, { start, stop }) => sum + stop - start, 0);
  const { largest, areBuffers, tasks } = returned(facts.trace, rows);
  return {
    code: 'serialization-bound',
    title: `The run waited ${secondsText(onPath)} while the program's thread received ${bytesText(nbytes)} of results`,
    seconds: onPath,
    confidence: 'high',
    evidence: {
      text: `This thread received and unpacked results for ${secondsText(all)} (${bytesText(nbytes / all)}/s)${largest === undefined ? '' : `, most of them of '${largest}'`}. Meanwhile it sent no tasks to the workers.`,
      numbers: { nbytes, transfers: rows.length, copySeconds: all, workers: facts.workers },
      tasks,
      question: 'transfers-by-type',
    },
    advice: `Return less: reduce results in tasks, or write them to files there. ${areBuffers ? 'Worker threads do not copy arrays on a SharedArrayBuffer.' : 'Typed arrays are unpacked faster than objects and strings.'} A cluster, await connect(), keeps results on its workers until the program fetches them.`,
  };
}

/** Returns the prefix of the tasks with most of the bytes in these transfers, and the keys of at most five tasks. */
function returned({ transfers, tasks, keys, strings }: Trace, rows: readonly number[]) {
  const bytes = new Map<number, number>();
  for (const row of rows) {
    const [from, to] = [transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!];
    for (const key of transfers.keys.subarray(from, to))
      bytes.set(key, (bytes.get(key) ?? 0) + transfers.nbytes[row]! / (to - from));
  }
  const prefixes = new Map<number, number>();
  let [all, buffers] = [0, 0];
  for (let row = 0; row < tasks.length; row++) {
    const nbytes = bytes.get(tasks.key[row]!);
    if (nbytes === undefined) continue;
    prefixes.set(tasks.prefix[row]!, (prefixes.get(tasks.prefix[row]!) ?? 0) + nbytes);
    all += nbytes;
    const type = tasks.resultType[row]!;
    if (type >= 0 && BUFFER_TYPE.test(strings.get(type))) buffers += nbytes;
  }
  const [largest] = [...prefixes].sort(([, a], [, b]) => b - a)[0] ?? [];
  return {
    largest: largest === undefined ? undefined : strings.get(largest),
    areBuffers: 2 * buffers > all,
    tasks: [...bytes.keys()].slice(0, 5).map((key) => keys.get(key)),
  };
}

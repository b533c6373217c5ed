// The doctor: reads a trace and says what cost most time, with evidence and something to try. One rule per file here.
import { checkArgument, TRACE } from '../../base/arguments.js';
import type { Trace } from '../../trace/trace.js';
import { Table } from '../table.js';
import { valuesColumn } from '../valuesColumn.js';
import { asynchronousWait } from './asynchronousWait.js';
import { clientBound } from './clientBound.js';
import { cpuOversubscription, otherPrograms } from './cpuOversubscription.js';
import { eventLoopStarvation } from './eventLoopStarvation.js';
import { Facts, type Finding, type FindingCode, type Rule } from './finding.js';
import { garbageCollection } from './garbageCollection.js';
import { gatheredResults } from './gatheredResults.js';
import { lackOfParallelism } from './lackOfParallelism.js';
import { lostWork } from './lostWork.js';
import { memoryBound } from './memoryBound.js';
import { oversizedArguments } from './oversizedArguments.js';
import { schedulerBound } from './schedulerBound.js';
import { serializationBound } from './serializationBound.js';
import { serialStretch } from './serialStretch.js';
import { serialTail } from './serialTail.js';
import { spillBound } from './spillBound.js';
import { stragglerTasks } from './stragglerTasks.js';
import { synchronousIo } from './synchronousIo.js';
import { tasksTooSmall } from './tasksTooSmall.js';
import { transferBound } from './transferBound.js';
import { workerBound } from './workerBound.js';
import { workerSkew } from './workerSkew.js';

export const RULES: readonly Rule[] = [
  tasksTooSmall,
  serialTail,
  serialStretch,
  stragglerTasks,
  workerSkew,
  transferBound,
  serializationBound,
  spillBound,
  memoryBound,
  garbageCollection,
  oversizedArguments,
  gatheredResults,
  synchronousIo,
  asynchronousWait,
  eventLoopStarvation,
  schedulerBound,
  clientBound,
  lackOfParallelism,
  cpuOversubscription,
  lostWork,
];

/** Findings that say nothing new beside others, and which those are. */
const EXPLAINED_BY: Partial<Record<FindingCode, readonly FindingCode[]>> = {
  // The workers that are left have more to do than the one that was lost.
  'worker-skew': ['lost-work'],
  'serial-tail': ['worker-skew'],
  // Both tell of the disk.
  'spill-bound': ['memory-bound'],
  'lack-of-parallelism': ['serial-tail', 'serial-stretch', 'stragglers'],
  'scheduler-bound': ['tasks-too-small', 'event-loop-starvation', 'oversized-arguments'],
  // What packs and sends arguments is the event loop's thread.
  'event-loop-starvation': ['oversized-arguments'],
};

const MAX_FINDINGS = 7;
/** Of the makespan: what costs less is not worth anybody's time. */
const MIN_SHARE = 0.05;
const MIN_SECONDS = 10e-3;

/**
 * Returns at most seven causes that made the run slow, the most expensive first. The cost of other programs on the
 * machine comes last, because no change of this program lowers it. Empty if no cause costs at least a twentieth of the
 * makespan and 10 ms. Costs may overlap, so they do not add up. A run without another cause may be short of workers.
 */
export function findings(trace: Trace): readonly Finding[] {
  checkArgument('findings(): trace', trace, TRACE);
  const facts = new Facts(trace);
  if (!(facts.makespan > 0)) return [];
  const found = foundBy(RULES, facts);
  const shared = foundBy([otherPrograms], facts);
  if (found.length + shared.length === 0) return foundBy([workerBound], facts);
  const codes = new Set(found.map(({ code }) => code));
  const own = found
    .filter(({ code }) => EXPLAINED_BY[code]?.some((other) => codes.has(other)) !== true)
    .sort((a, b) => b.seconds - a.seconds);
  return [...own.slice(0, MAX_FINDINGS - shared.length), ...shared];
}

/** Returns what the rules find, without what costs too little. */
function foundBy(rules: readonly Rule[], facts: Facts): Finding[] {
  const least = Math.max(MIN_SECONDS, MIN_SHARE * facts.makespan);
  return (
    rules
      .map((rule) => rule(facts))
      .filter((finding) => finding !== undefined)
      // Sums over several threads, e.g. over threads without a name, may exceed the makespan.
      .map((finding) => ({ ...finding, seconds: Math.min(finding.seconds, facts.makespan) }))
      .filter(({ seconds }) => seconds >= least)
  );
}

/** Findings as a table, one row each. */
export function findingsTable(found: readonly Finding[]): Table {
  return new Table([
    valuesColumn(
      'Finding',
      found.map(({ title }) => title),
    ),
    { title: 'Costs (s)', numbers: Float64Array.from(found, ({ seconds }) => seconds) },
    valuesColumn(
      'Confidence',
      found.map(({ confidence }) => confidence),
    ),
    valuesColumn(
      'Evidence',
      found.map(({ evidence }) => evidence.text),
    ),
    valuesColumn(
      'Try',
      found.map(({ advice }) => advice),
    ),
  ]);
}

// Finds what cost a run most time, with evidence and advice. The rules are in the other files of this folder.
import { checkArgument, kind, TRACE } from '../../base/arguments.js';
import type { Trace } from '../../trace/trace.js';
import { coreUseOf } from '../coreUse.js';
import { rowColumns, Table } from '../table.js';
import { asynchronousWait } from './asynchronousWait.js';
import { blockedWorkers } from './blockedWorkers.js';
import { cancelledTasks } from './cancelledTasks.js';
import { clientBound, outsideComputations } from './clientBound.js';
import { gatheredResults, oversizedArguments } from './clientTransfers.js';
import { consoleOutput } from './consoleOutput.js';
import { cpuLimit } from './cpuLimit.js';
import { cpuOversubscription, otherPrograms } from './cpuOversubscription.js';
import { eventLoopStarvation } from './eventLoopStarvation.js';
import { failedAttempts } from './failedAttempts.js';
import {
  Facts,
  type Finding,
  type FindingCode,
  type Found,
  MIN_COST,
  MIN_SECONDS,
  type Rule,
} from './finding.js';
import { garbageCollection } from './garbageCollection.js';
import { lackOfParallelism } from './lackOfParallelism.js';
import { lockContention } from './lockContention.js';
import { lostWork } from './lostWork.js';
import { memoryBound, spillBound } from './memoryBound.js';
import { nestedGraphs } from './nestedGraphs.js';
import { repeatedTasks } from './repeatedTasks.js';
import { schedulerBound } from './schedulerBound.js';
import { serialStretch, serialTail } from './serialFinding.js';
import { serializationBound } from './serializationBound.js';
import { sharedWait } from './sharedWait.js';
import { slowFirst } from './slowFirst.js';
import { slowImports } from './slowImports.js';
import { slowWorker } from './slowWorker.js';
import { stoppedProgram } from './stoppedProgram.js';
import { stragglerTasks } from './stragglerTasks.js';
import { synchronousIo } from './synchronousIo.js';
import { tasksTooSmall } from './tasksTooSmall.js';
import { transferBound } from './transferBound.js';
import { unevenRounds } from './unevenRounds.js';
import { unreachable } from './unreachable.js';
import { workerBound } from './workerBound.js';
import { workerPlugin } from './workerPlugin.js';
import { workerSkew } from './workerSkew.js';

const RULES: readonly Rule[] = [
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
  cpuLimit,
  lostWork,
  failedAttempts,
  repeatedTasks,
  cancelledTasks,
  lockContention,
  sharedWait,
  slowWorker,
  slowFirst,
  slowImports,
  unevenRounds,
  unreachable,
  stoppedProgram,
  blockedWorkers,
  workerPlugin,
  nestedGraphs,
  consoleOutput,
];

/** Findings that are left out if one of the listed findings, which explains the same time, was made. */
const EXPLAINED_BY: Partial<Record<FindingCode, readonly FindingCode[]>> = {
  'serial-tail': ['worker-skew', 'slow-worker', 'stopped-program'],
  // Both report waits for the disk.
  'spill-bound': ['memory-bound'],
  'lack-of-parallelism': ['serial-tail', 'serial-stretch', 'stragglers', 'lock-contention'],
  'uneven-rounds': ['lack-of-parallelism'],
  // Results that cannot be fetched are computed again, and dropped when the tasks that need them fail.
  'cancelled-tasks': ['unreachable-worker'],
  // Tasks that wait for a lock await promises, and more of them at a time would only wait longer.
  'asynchronous-wait': ['lock-contention'],
  // In a chain of tasks, each task waits for the scheduler, but the other threads would be idle in any case.
  'scheduler-bound': [
    'tasks-too-small',
    'event-loop-starvation',
    'oversized-arguments',
    'lack-of-parallelism',
    'unreachable-worker',
    'stopped-program',
    'blocked-workers',
  ],
  // The thread of the event loop packs and sends arguments.
  'event-loop-starvation': ['oversized-arguments', 'stopped-program'],
  // The times of the tasks, and all waits, contain the stop.
  stragglers: ['stopped-program', 'blocked-workers'],
  'serial-stretch': ['stopped-program', 'blocked-workers'],
  'worker-skew': ['stopped-program', 'blocked-workers'],
  'synchronous-io': ['stopped-program'],
  'client-bound': ['stopped-program'],
  // Ctrl-Z stops the program and its worker processes.
  'blocked-workers': ['stopped-program'],
};

const STOPS: readonly FindingCode[] = ['stopped-program', 'blocked-workers'];

/** Share of the cost of few parallel tasks, from which a finding about a part of the run explains it; also of a stop. */
const EXPLAINING = 0.5;

const WITHOUT_CORE_WAITS: readonly FindingCode[] = [
  'serial-tail',
  'serial-stretch',
  'stragglers',
  'garbage-collection',
  'slow-first-calls',
  'uneven-rounds',
];

const MAX_FINDINGS = 7;

/**
 * Returns at most seven problems that made the run slow, those with the highest cost first. If the program ran longer
 * before its first computation or after its last result than the computations took, this comes first. The cost of other programs
 * on the machine comes last, because no change of this program lowers it. A finding costs at least 10 ms and 5 % of the
 * makespan, or of the makespan without waits for a core if its cost is without them. Costs may overlap, so their sum has
 * no meaning. If no other problem of the program is found and the threads computed most of the time, the finding `worker-bound`
 * is returned, beside other programs only if there are fewer threads than cores.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `trace` is not a trace
 */
export function findings(trace: Trace): readonly Finding[] {
  checkArgument('findings(): trace', trace, TRACE);
  const facts = new Facts(trace);
  if (!(facts.makespan > 0) || facts.tasks === 0) {
    // No task ended, but tasks may have died with their workers or been cancelled.
    const causes = unreachable(facts) ?? [lostWork, cancelledTasks].flatMap((rule) => rule(facts) ?? []);
    return [causes].flat().map(withEvidence).sort(byCost);
  }
  const outside = outsideComputations(facts);
  return outside === undefined
    ? ofComputations(facts, MAX_FINDINGS)
    : [withEvidence(outside), ...ofComputations(facts, MAX_FINDINGS - 1)];
}

const byCost = (a: Finding, b: Finding): number => b.seconds - a.seconds;

/** Returns at most `max` findings about the time from the first submission to the last result. */
function ofComputations(facts: Facts, max: number): readonly Finding[] {
  const found = foundBy(RULES, facts);
  const shared = foundBy([otherPrograms], facts);
  if (found.length === 0 && (shared.length === 0 || hasMoreCores(facts)))
    found.push(...foundBy([workerBound], facts));
  const costs = new Map(found.map(({ code, seconds }) => [code, seconds]));
  const { lost } = coreUseOf(facts.trace);
  const explains = (other: FindingCode, { code, seconds }: Finding): boolean => {
    const withCore = WITHOUT_CORE_WAITS.includes(other) ? 1 - lost : 1;
    const isPart = code === 'lack-of-parallelism' || STOPS.includes(other);
    return (costs.get(other) ?? -1) >= (isPart ? EXPLAINING * withCore * seconds : 0);
  };
  const own = found
    .filter((one) => EXPLAINED_BY[one.code]?.some((other) => explains(other, one)) !== true)
    .sort(byCost);
  const shown = own.slice(0, max - shared.length);
  const cheapest = shown.at(-1)?.seconds ?? Number.POSITIVE_INFINITY;
  // A finding that comes after a cheaper one says why.
  const placed = shared.map((one) =>
    one.seconds > cheapest
      ? { ...one, title: `${one.title}; listed last, because no change of the program lowers it` }
      : one,
  );
  return [...shown, ...placed];
}

/** Returns whether more threads could use more cores, also those that other programs use. A thread alone is assumed to have others. */
function hasMoreCores({ trace, workers }: Facts): boolean {
  const { cores } = coreUseOf(trace);
  return workers === 1 ? !(cores <= 1) : workers < cores;
}

function withEvidence({ text, numbers, tasks, question, advice, ...problem }: Found): Finding {
  return { ...problem, evidence: { text, numbers, tasks, question }, advice };
}

const FINDINGS = kind('the result of findings()', Array.isArray);

/** Returns the findings of the rules, without those that cost too little. */
function foundBy(rules: readonly Rule[], facts: Facts): Finding[] {
  const { coreWait } = facts.trace.tasks;
  const waits = facts.lanes.spans.rows.reduce((sum, row) => sum + (coreWait[row]! || 0), 0);
  const alone = facts.makespan - facts.secondsOfRun(waits);
  const least = (code: FindingCode): number =>
    Math.max(MIN_SECONDS, MIN_COST * (WITHOUT_CORE_WAITS.includes(code) ? alone : facts.makespan));
  return (
    rules
      .map((rule) => rule(facts))
      .filter((finding) => finding !== undefined)
      // A sum over concurrent threads can exceed the makespan.
      .map((found) => withEvidence({ ...found, seconds: Math.min(found.seconds, facts.makespan) }))
      .filter(({ code, seconds }) => seconds >= least(code))
  );
}

/** Returns a table with one row per finding: title, seconds, confidence, evidence and advice. */
export function findingsTable(found: readonly Finding[]): Table {
  checkArgument('findingsTable()', found, FINDINGS);
  const { texts, numbers } = rowColumns(found);
  return new Table([
    texts('Finding', ({ title }) => title),
    numbers('Costs (s)', ({ seconds }) => seconds),
    texts('Confidence', ({ confidence }) => confidence),
    texts('Evidence', ({ evidence }) => evidence.text),
    texts('Try', ({ advice }) => advice),
  ]);
}

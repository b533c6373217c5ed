import { pushTo } from '../../base/lookUps.js';
import { percentText, secondsText } from '../../base/words.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { coreUseOf, isUnmeasured } from '../coreUse.js';
import { eachUse } from '../lanes.js';
import { profilerSeconds } from '../profilerStarts.js';
import { recordsTransfers } from '../programTransfers.js';
import { merged, type Span } from '../spans.js';
import { spilledResults } from '../spilledResults.js';
import { haveOwnThreads } from './cpuOversubscription.js';
import { daskLockShares } from './daskLocks.js';
import { BINS, type Facts, type Found, type Rule } from './finding.js';
import { cpuByPrefix, hasCpuMetrics, type PrefixCpu, shareOfTime } from './noncpu.js';
import { stallSeconds } from './stalls.js';
import { busyCores, computingElsewhere } from './waitsForOthers.js';

/** Share of a prefix's time, without waits for a core, from which its tasks count as blocked. */
const MIN_SHARE = 0.6;
/** The same share with waits for a core, if the time on a core is estimated: small remainders may be errors. */
const MIN_ESTIMATED_SHARE = 0.3;

/** Cores that the threads of a Dask process together use, from which they wait for each other rather than for I/O. */
const MIN_TURNS = 0.7;
/** The most of these cores, as far as measurements are exact, if only one thread at a time computes. */
const MAX_TURN = 1.1;
/** Share of a prefix's time from which its tasks count as blocked if this is so: two threads each wait for half of their time. */
const MIN_TURN_SHARE = 0.4;
/** What no number of tasks at a time makes faster. The trace does not show it. */
export const IN_TURNS =
  'If they wait for each other, e.g. for a file lock or one connection, this does not help.';

/**
 * Tasks of a prefix block their thread for most of their time: they wait for the disk, the network or another process.
 * Without metrics, tasks that await promises look the same.
 * The cost is the part of this time in which another task was ready and no thread was free.
 */
export const synchronousIo: Rule = (facts) => {
  const isMeasured = hasCpuMetrics(facts.trace);
  const { used: cores, turns } = turnsOf(facts);
  const isOneCore = turns >= 1 / MAX_TURN && cores <= MAX_TURN;
  const least = isOneCore ? MIN_TURN_SHARE : MIN_SHARE;
  // 'lock-contention' reports these.
  const locks = facts.isDask ? [...daskLockShares(facts.trace).keys()] : [];
  const locked = new Set(locks.map((id) => facts.prefixName(id)));
  const waiting = cpuByPrefix(facts.trace).filter(
    (row) =>
      row.share >= least &&
      !locked.has(row.prefix) &&
      (isMeasured || shareOfTime(row, row.noncpu) >= MIN_ESTIMATED_SHARE),
  );
  const worst = waiting[0];
  // A task that starts threads is blocked while these threads compute.
  if (worst === undefined || haveOwnThreads(facts)) return undefined;
  const noncpu = waiting.reduce((sum, row) => sum + row.noncpu, 0);
  const prefixes = new Set(waiting.map(({ prefix }) => prefix));
  const rows = facts.rowsOf(prefixes);
  const cost = delaySeconds(facts, waiting, (row) => row.noncpu);
  if (facts.isDask && turns >= MIN_TURNS) return inTurns(facts, worst, { cores, cost, rows });
  const text = `tasks of '${worst.prefix}' were blocked for ${secondsText(worst.noncpu)}`;
  const found = { code: 'synchronous-io', ...worst, waited: noncpu, text, cost, rows } as const;
  const busy = busyCores(facts, rows);
  if (stallSeconds(facts, rows) > 0) return undefined;
  const elsewhere = computingElsewhere(facts, busy, found);
  if (elsewhere !== undefined) return elsewhere;
  // Without samples of the machine, these waits are not even estimated.
  const isUnknown =
    Number.isNaN(coreUseOf(facts.trace).cores) && rows.some((row) => isUnmeasured(facts.trace, row));
  const isEstimated = busy !== undefined && !coreUseOf(facts.trace).isMeasured;
  // Dask's workers measure no waits for a core. They are estimated from samples of the scheduler's machine.
  const isElsewhere = facts.isDask && Number.isNaN(coreUseOf(facts.trace).cores);
  const causes = !isMeasured
    ? `promises, synchronous I/O or another thread: ${recordsTransfers(facts.trace) ? 'clusters do not measure this for tasks that fail' : 'local schedulers do not measure which'}`
    : isUnknown
      ? 'synchronous I/O, another thread or waits for a core, which are not measured for tasks that overlap'
      : isElsewhere
        ? "synchronous I/O, another thread or waits for a core, which are only known for the scheduler's machine"
        : 'synchronous I/O or by another thread';
  return {
    code: 'synchronous-io',
    title: `Tasks of '${worst.prefix}' block their thread without computing for ${percentText(shareOfTime(worst, worst.noncpu))} of their time`,
    seconds: cost,
    confidence: isUnknown || isEstimated || isElsewhere || isOneCore ? 'low' : 'medium',
    text: `Tasks of '${worst.prefix}' computed for ${secondsText(worst.cpu)} and were blocked for ${secondsText(worst.noncpu)}, by ${causes}.${isEstimated ? `${busy.text} Waits for these cores are only estimated, and may be a part of it.` : ''}${isOneCore ? ' All threads together used one core, or waited for it, as if their tasks waited for each other.' : ''}`,
    numbers: { noncpuSeconds: noncpu, cpuSeconds: worst.cpu, workers: facts.workers },
    tasks: facts.keys(rows),
    question: 'time-by-prefix',
    advice: isUnknown
      ? `Search '${worst.prefix}' for synchronous calls, and replace them by asynchronous ones.`
      : adviceOf(facts, worst.prefix),
  };
};

function adviceOf(facts: Facts, prefix: string): string {
  if (facts.isDask && spilledResults(facts.trace).nbytes > 0)
    return 'Give the workers more memory first: while a worker writes results to disk, its threads may wait for that.';
  if (facts.isDask)
    return `Give each worker more threads than cores, so that other tasks run while '${prefix}' waits. ${IN_TURNS}`;
  if (hasCpuMetrics(facts.trace))
    return `Use more workers than cores, or await several operations in one call of '${prefix}', with fs/promises or fetch and Promise.all. ${IN_TURNS}`;
  return `If '${prefix}' awaits promises, let its tasks overlap: ${recordsTransfers(facts.trace) ? 'connect' : 'compute'}({ concurrentTasks: 16 }). If it blocks its thread, use more workers than cores, or asynchronous calls. ${IN_TURNS}`;
}

/**
 * Returns the cores that the threads of a Dask process, or all threads of Longpole, together used while one of them ran a task, and
 * these with the cores for which they waited; 0 for too few threads.
 */
function turnsOf(facts: Facts): { readonly used: number; readonly turns: number } {
  const { trace, lanes } = facts;
  const process = processes(trace);
  const isAlone = new Set(Array.from(lanes.worker, (row) => process[row] ?? row)).size === lanes.count;
  // Threads of Longpole do not wait for each other, unless their tasks do. Two often use one core because of I/O.
  if (facts.isDask ? isAlone : lanes.count < 3) return { used: 0, turns: 0 };
  const { worker, started, stopped } = trace.tasks;
  const spans = new Map<number, Span[]>();
  for (const row of lanes.spans.rows)
    pushTo(spans, facts.isDask ? process[worker[row]!]! : 0, { start: started[row]!, stop: stopped[row]! });
  let wall = 0;
  for (const parts of spans.values()) for (const { start, stop } of merged(parts)) wall += stop - start;
  const all = cpuByPrefix(trace);
  const used = all.reduce((sum, { cpu, gc }) => sum + cpu + gc, 0);
  const waited = all.reduce((sum, { crowded }) => sum + crowded, 0);
  return { used: used / wall, turns: (used + waited) / wall };
}

/** Returns for each worker the first one in the same process: those of `LocalCluster(processes=False)` are in one. */
function processes({ workers: { host, pid } }: Trace): number[] {
  return Array.from(pid, (id, row) =>
    id > 0 ? pid.findIndex((other, at) => other === id && host[at] === host[row]) : row,
  );
}

/** Threads of one Python process wait for each other. */
function inTurns(
  facts: Facts,
  { prefix, cpu, noncpu, share }: PrefixCpu,
  { cores, cost, rows }: { readonly cores: number; readonly cost: number; readonly rows: Int32Array },
): Found {
  return {
    code: 'synchronous-io',
    title: `Tasks of '${prefix}' compute in turns: the threads of a process together use ${cores.toFixed(1)} cores`,
    seconds: cost,
    // Tasks that wait for I/O for half of their time, in two threads, also use one core.
    confidence: share >= MIN_SHARE ? 'medium' : 'low',
    text: `Tasks of '${prefix}' computed for ${secondsText(cpu)} and were blocked for ${secondsText(noncpu)}, while other threads of their process computed. In one Python process, only one thread at a time runs Python code (GIL).`,
    numbers: { noncpuSeconds: noncpu, cpuSeconds: cpu, coresPerWorker: cores, workers: facts.workers },
    tasks: facts.keys(rows),
    question: 'time-by-prefix',
    advice: `Use more worker processes with one thread each. Or let '${prefix}' compute in code that releases the GIL, e.g. in NumPy.`,
  };
}

/**
 * Returns the seconds that ready tasks waited for threads whose tasks did not use them, divided by the number of threads.
 *
 * @param unused seconds of a prefix in which its tasks did not use their thread
 */
export function delaySeconds(
  facts: Facts,
  prefixes: readonly PrefixCpu[],
  unused: (row: PrefixCpu) => number,
): number {
  const { trace, lanes, running, waiting, workers, makespan } = facts;
  const { prefix, worker, started, stopped } = trace.tasks;
  const shares = new Map(prefixes.map((row) => [row.prefix, shareOfTime(row, unused(row))]));
  const bins = new Map([...shares.keys()].map((name) => [name, facts.bins()]));
  for (const row of lanes.spans.rows) {
    const holding = bins.get(textOf(trace.strings, prefix[row]!));
    if (holding === undefined) continue;
    eachUse(trace, row, (from, to, share) => holding.add(from, to, share));
    // The start of a profiler is no blocked time of the task.
    const profiler = profilerSeconds(trace, worker[row]!, started[row]!, stopped[row]!);
    if (profiler > 0) holding.add(started[row]!, stopped[row]!, -profiler / (stopped[row]! - started[row]!));
  }
  let threads = 0;
  for (const [name, spans] of bins) {
    for (const [bin, holding] of spans.means().entries()) {
      const full = Math.min(1, running[bin]! / workers);
      threads += holding * shares.get(name)! * Math.min(1, waiting[bin]!) * full;
    }
  }
  return (threads / workers) * (makespan / BINS);
}

import { addTo, getOrMake, largestOf } from '../../base/lookUps.js';
import { countText, integerText, percentText, secondsText } from '../../base/words.js';
import { eachUse } from '../lanes.js';
import { calledObject } from '../leaseWaits.js';
import { fullSpansBetween } from '../path/fullSlots.js';
import { readiness } from '../simulation/conditions.js';
import type { Facts, Found, Rule } from './finding.js';
import { coreShare, cpuByPrefix, type PrefixCpu, shareOfTime } from './noncpu.js';
import { threadSamples } from './sampledCpu.js';
import { delaySeconds, IN_TURNS } from './synchronousIo.js';
import { busyCores, computingElsewhere, fullThreadPool, threadsComputed } from './waitsForOthers.js';

/** Smallest share of the time of a prefix's tasks, without waits for a core, in which they await promises. */
const MIN_SHARE = 0.6;
/** Largest number of overlapping tasks that the advice names: the other side of the requests may have a limit. */
const MAX_TIMES = 16;

/** A process has few threads for these operations, also if cores are free. */
const FEW_THREADS =
  'Threads that run no tasks computed meanwhile. Node has 4 for crypto, zlib, files and DNS in each process: the environment variable UV_THREADPOOL_SIZE changes it.';

/**
 * Tasks wait for promises (requests, files, timers) most of their time. A worker runs one task at a time, so its thread
 * is idle during these waits. The cost is the part of the waits in which another task was ready and no thread was free.
 */
export const asynchronousWait: Rule = (facts) => {
  const waiting = cpuByPrefix(facts.trace).filter((row) => shareOf(row) >= MIN_SHARE);
  waiting.sort((a, b) => b.awaited - a.awaited);
  const worst = waiting[0];
  if (worst === undefined) return fullSlots(facts);
  const { workers } = facts;
  const most = Math.min(MAX_TIMES, Math.ceil(mostReady(facts) / workers));
  // No other task could have run meanwhile.
  if (most < 2) return undefined;
  const awaited = waiting.reduce((sum, row) => sum + row.awaited, 0);
  const prefixes = new Set(waiting.map(({ prefix }) => prefix));
  const rows = facts.rowsOf(prefixes);
  const busy = busyCores(facts, rows);
  const cost = delaySeconds(facts, waiting, (row) => row.awaited);
  const text = `tasks awaited promises for ${secondsText(awaited)} in total`;
  const found = { code: 'asynchronous-wait', ...worst, waited: awaited, text, cost, rows } as const;
  const elsewhere =
    busy === undefined ? fullThreadPool(facts, found) : computingElsewhere(facts, busy, found);
  if (elsewhere !== undefined) return elsewhere;
  const mayBeChildren = busy !== undefined && Number.isNaN(busy.children);
  const times = Math.min(most, Math.ceil(1 / (1 - Math.min(0.99, shareOf(worst)))));
  const calls = callsOf(facts, worst);
  return {
    code: 'asynchronous-wait',
    title: `Tasks of '${worst.prefix}' wait for ${calls?.what ?? 'promises'} ${percentText(shareOfTime(worst, worst.awaited))} of their time, and a worker runs one task at a time`,
    seconds: cost,
    confidence: busy === undefined ? 'high' : mayBeChildren ? 'low' : 'medium',
    text: `${countText(workers, 'thread')} idled for ${secondsText(awaited)} in total while tasks waited for ${calls !== undefined ? calls.text : mayBeChildren ? 'promises' : 'requests, files or timers'}.${busy?.text ?? ''}`,
    numbers: { awaitedSeconds: awaited, cpuSeconds: worst.cpu, workers },
    tasks: facts.keys(rows),
    question: 'critical-path',
    advice: `${calls?.advice ?? ''}${mayBeChildren && calls === undefined ? 'If they wait for child processes that compute, more of them at a time are not faster. If they wait for requests, files or timers, let' : 'Let'} the tasks of a worker overlap while they wait: connect({ concurrentTasks: ${times} }), or the same option of compute() without a cluster. Or await many promises in one task of '${worst.prefix}' (Promise.all). ${busy === undefined && threadsComputed(facts, awaited) ? FEW_THREADS : IN_TURNS}`,
  };
};

/** Returns texts about the calls of a shared object, if they are what the tasks of a prefix awaited. */
function callsOf({ trace }: Facts, { prefix, awaited }: PrefixCpu) {
  const called = calledObject(trace, prefix, awaited);
  if (called === undefined) return undefined;
  const { object, count, seconds } = called;
  const what = `calls of ${object}`;
  return {
    what,
    text: `${integerText(count)} ${what}, of ${secondsText(seconds / count)} each: a call asks the process of the scheduler, and waits for the answer`,
    advice: `Make fewer calls of ${object}: keep its value in the task and write it once, or put and get many items with one call. `,
  };
}

/**
 * Returns the largest number of tasks that were ready or ran at the same time.
 */
function mostReady({ trace, lanes }: Facts): number {
  const ready = Float64Array.from(lanes.spans.rows, (row) => readiness(trace, row).time).sort();
  const stopped = Float64Array.from(lanes.spans.rows, (row) => trace.tasks.stopped[row]!).sort();
  let [most, ended] = [0, 0];
  for (const [before, time] of ready.entries()) {
    while (stopped[ended]! <= time) ended++;
    most = Math.max(most, before + 1 - ended);
  }
  return most;
}

/**
 * Tasks overlap (`concurrentTasks`), and ready tasks wait for a slot of their worker while its thread is idle. The cost is
 * the part of the critical path that waits for slots of idle threads.
 */
function fullSlots(facts: Facts): Found | undefined {
  const waits = slotWaits(facts);
  const seconds = [...waits.values()].reduce((sum, waited) => sum + waited, 0);
  const [worst] = largestOf(waits) ?? [];
  if (worst === undefined || !(seconds > 0)) return undefined;
  const rows = facts.lanes.spans.rows.filter((row) => facts.trace.tasks.prefix[row] === worst);
  const name = facts.prefixName(worst);
  const busy = busyCores(facts, rows);
  const isPool = busy === undefined && threadsComputed(facts, seconds);
  return {
    code: 'asynchronous-wait',
    title: `Tasks wait for a slot of their worker while tasks of '${name}' that await promises fill all of them`,
    seconds,
    confidence: busy === undefined ? 'medium' : 'low',
    text: `The critical path waited ${secondsText(seconds)} for slots, while the thread of the worker was idle.${busy === undefined ? '' : `${busy.text} The tasks may have waited for these cores.`}`,
    numbers: { slotSeconds: seconds, workers: facts.workers },
    tasks: facts.pathTasks('waiting for a worker'),
    question: 'critical-path',
    advice: `Raise concurrentTasks, if the other side of the requests accepts more at a time. Or make the requests of '${name}' faster.${isPool ? ` ${FEW_THREADS}` : ''}`,
  };
}

/** Leaves out waits for a core, which would make the share smaller on a busy machine. */
function shareOf({ cpu, noncpu, gc, awaited }: PrefixCpu): number {
  return awaited / (cpu + noncpu + gc + awaited);
}

/**
 * Returns by prefix the seconds of the critical path that waited for the slots of its tasks while the thread of the worker was idle.
 * Tasks that have left their slot may compute, and then more slots do not help. Clusters measure the time in which they do. Local
 * schedulers do not, so samples of the thread's CPU time count, too.
 */
function slotWaits(facts: Facts): ReadonlyMap<number, number> {
  const { trace, lanes } = facts;
  const idles = new Map<number, (time: number) => number>();
  const waits = new Map<number, number>();
  for (const { start, stop, row } of facts.parts('waiting for a worker')) {
    const lane = row < 0 ? -1 : lanes.laneOf[row]!;
    if (lane < 0) continue;
    for (const span of fullSpansBetween(trace, lane, start, stop)) {
      const idle = getOrMake(idles, lane, () => idleUntil(facts, lane));
      const seconds = idle(Math.min(stop, span.stop)) - idle(Math.max(start, span.start));
      const prefix = trace.tasks.prefix[span.task]!;
      addTo(waits, prefix, seconds);
    }
  }
  return waits;
}

/** Returns a function from a time to the seconds until then in which the thread neither had a task in its slot nor computed or waited for a core. */
function idleUntil(facts: Facts, lane: number): (time: number) => number {
  const { trace, lanes, path } = facts;
  const [used, cpu] = [facts.bins(), facts.bins()];
  for (const row of lanes.spans.rows.subarray(lanes.offsets[lane]!, lanes.offsets[lane + 1]!))
    eachUse(trace, row, (start, stop, share) => used.add(start, stop, share));
  const samples = threadSamples(trace).get(lanes.worker[lane]!);
  if (samples !== undefined) {
    const { times, used: seconds } = samples;
    // A thread that wants to compute has a core for a part of the time. Without samples, it is not known to be idle.
    const share = coreShare(trace);
    cpu.add(path.start, times[0]!);
    for (let at = 1; at < times.length; at++) {
      const [from, to] = [times[at - 1]!, times[at]!];
      if (to > from) cpu.add(from, to, seconds[at]! / (to - from) / share);
    }
    cpu.add(times.at(-1)!, path.stop);
  }
  const onCore = cpu.means();
  return used.integral(used.means().map((share, bin) => Math.max(0, 1 - Math.max(share, onCore[bin]!))));
}

// Fails computations that could proceed and do not. Their tasks are on workers or could be sent there, no worker runs
// one, and for a long time workers have sent only heartbeats. The cause is a lost message or a state without an exit,
// so waiting does not help. Warns of calls of shared objects that nothing seems to end. A timer reads counters every few seconds; there is no other cost.

import { LongpoleError } from '../../base/errors.js';
import { shortened, visibleText } from '../../base/visibleText.js';
import type { OpenWaits } from '../openWaits.js';
import { PROCESSING, QUEUED } from '../scheduler/taskStates.js';
import { type ClusterDump, dumpCluster } from './clusterDump.js';
import type { ClusterEngine } from './clusterEngine.js';
import { type SharedDump, sharedLine } from './coordination/sharedDump.js';

/** Time between two polls, in seconds. */
const POLL_SECONDS = 5;
/**
 * Minimum time without a message, in seconds. Without a message, an isolate may start for 60 s and import a module for 60
 * s, and a gather may wait 30 s for an answer.
 */
const LEAST_SECONDS = 180;
/** Events of the scheduler that no message of a worker causes, and the answers to its own requests for waiting tasks. */
const OWN_EVENTS: ReadonlySet<string> = new Set([
  'graph-added',
  'tasks-cancelled',
  'results-unwanted',
  'idle-check',
  'tasks-stolen',
]);
/** Tasks that the error names. */
const MAX_TASKS = 5;
/** Shared objects that the warning names. */
const MAX_OBJECTS = 5;

export class StallWatch {
  readonly #engine: ClusterEngine;
  readonly #maxPolls: number;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #endWatch: () => void;
  /** Consecutive polls without progress. */
  #polls = 0;
  /** Consecutive polls in which only calls of shared objects waited. */
  #sharedPolls = 0;
  /** Number of calls of shared objects. */
  #calls = 0;
  /** Number of events that workers' messages have caused. */
  #events = 0;

  /**
   * @param ttl seconds without a message after which computations fail, at least 180; false: never. Calls of shared
   *   objects get a warning after the same time
   * @source no equivalent in Dask; the limit is that of `distributed.scheduler.worker-ttl`
   */
  constructor(engine: ClusterEngine, ttl: number | false) {
    this.#engine = engine;
    this.#endWatch = watchEnd(engine.waits);
    this.#maxPolls = Math.ceil(Math.max(Number(ttl), LEAST_SECONDS) / POLL_SECONDS);
    if (ttl === false) return;
    this.#timer = setInterval(() => this.#poll(), POLL_SECONDS * 1000).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#endWatch();
  }

  #poll(): void {
    const events = this.#countEvents();
    const isQuiet = events === this.#events;
    this.#events = events;
    this.#pollShared(isQuiet);
    if (!isQuiet || !this.#engine.scheduler.state.canContinue) this.#polls = 0;
    else if (this.#isIdle()) this.#polls++;
    if (this.#polls < this.#maxPolls) return;
    this.#polls = 0;
    void this.#fail(events);
  }

  /** Warns of calls of shared objects that wait while only such calls wait. The program may still end the waits. */
  #pollShared(isQuiet: boolean): void {
    const { coordination, scheduler, workers } = this.#engine;
    const { calls } = coordination;
    const { counts, canBegin } = scheduler.state;
    const isStuck = calls.isEndless && !canBegin && counts[PROCESSING]! <= calls.waitingTasks;
    if (!isQuiet || calls.begun !== this.#calls || !isStuck) this.#sharedPolls = 0;
    else if (![...workers.values()].some(({ host }) => host.isOccupied)) this.#sharedPolls++;
    this.#calls = calls.begun;
    if (this.#sharedPolls !== this.#maxPolls) return;
    const objects = coordination.dump().filter(({ waits }) => waits.length > 0);
    const text = sharedText(objects, this.#maxPolls * POLL_SECONDS);
    this.#engine.event('shared-wait', text);
    process.emitWarning(visibleText(text), { type: 'LongpoleWarning', code: 'LONGPOLE_SHARED_WAIT' });
  }

  #countEvents(): number {
    let sum = 0;
    for (const [type, { count }] of this.#engine.stimuli) if (!OWN_EVENTS.has(type)) sum += count;
    return sum;
  }

  /** Whether every worker is up, accepts tasks and is idle. Otherwise the tasks may wait for a worker's activity. */
  #isIdle(): boolean {
    const workers = [...this.#engine.workers.values()];
    const { workers: known } = this.#engine.scheduler.state;
    // A seceded task may wait for anything.
    for (const { seceded } of known.values()) if (seceded.size > 0) return false;
    return (
      workers.length > 0 &&
      workers.every(
        ({ facts, isPaused, isLeaving, full, host }) =>
          facts !== undefined && !isPaused && !isLeaving && !full && !host.running && !host.isOccupied,
      )
    );
  }

  async #fail(events: number): Promise<void> {
    const dump = await dumpCluster(this.#engine);
    if (this.#countEvents() !== events) return;
    const error = stalledError(dump, this.#maxPolls * POLL_SECONDS);
    this.#engine.event('stalled', error.message);
    const ids: number[] = [];
    for (const { segment, reasons } of this.#engine.computations)
      for (let local = 0; segment.unfinished > 0 && local < segment.size; local++) {
        if (!this.#canProceed(segment.base + local)) continue;
        ids.push(segment.base + local);
        reasons.set(local, error);
      }
    this.#engine.handleEvent({ type: 'tasks-stuck', ids });
  }

  /** Whether the task is on a worker or could be sent to one. */
  #canProceed(id: number): boolean {
    const { state, parked } = this.#engine.scheduler.state;
    return state[id] === PROCESSING || (state[id] === QUEUED && !parked.has(id));
  }
}

function sharedText(objects: readonly SharedDump[], seconds: number): string {
  const more = objects.length - MAX_OBJECTS;
  return (
    `For ${seconds} s the cluster only waits for shared objects. ${objects.slice(0, MAX_OBJECTS).map(sharedLine).join('. ')}` +
    `${more > 0 ? `. And ${more} more` : ''}. The calls wait until the program or a task ends the wait, e.g. with release() or put(). ` +
    'Pass a timeout to limit a wait.'
  );
}

function stalledError(dump: ClusterDump, seconds: number): LongpoleError {
  const tasks = dump.tasks.slice(0, MAX_TASKS).map(({ key, state, worker }) => {
    return `'${key}' (${state}${worker === undefined ? '' : ` at ${worker}`})`;
  });
  const more = dump.tasks.length + dump.more - tasks.length;
  return new LongpoleError(
    'ERR_LONGPOLE_STALLED',
    `Tasks could run, and for ${seconds} s no worker ran one or sent a message: ${tasks.join(', ')}` +
      `${more === 0 ? '' : ` and ${more} more`}. This is a bug in Longpole; please report it with the cause, which is a dump of the cluster.`,
    { cause: dump },
  );
}

/** Most characters of the warning. */
const LONGEST_WARNING = 2000;
/** Pending calls of open clusters. One listener serves all clusters, because Node warns of many listeners. */
const watched = new Set<OpenWaits>();

/**
 * Warns of calls that are still pending when the program has nothing left to do. Node then ends the program silently:
 * with exit code 13 if it awaits at the top level, otherwise with code 0. Returns a function that ends the watch.
 */
function watchEnd(waits: OpenWaits): () => void {
  if (watched.size === 0) process.on('beforeExit', warn);
  watched.add(waits);
  return () => {
    if (watched.delete(waits) && watched.size === 0) process.off('beforeExit', warn);
  };
}

function warn(): void {
  const calls = [...watched].flatMap((waits) => waits.dump());
  if (calls.length === 0) return;
  const list = calls.map(({ what, subject, count }) => {
    const more = count > 1 ? ` and ${count - 1} more` : '';
    return `${what}${subject === '' ? '' : ` of '${subject}'`}${more}`;
  });
  const text =
    `The program has nothing left to do and ends, but these calls are pending: ${list.join(', ')}. ` +
    'No task that can run would end them. See earlier warnings for tasks that no worker can run, or cancel the futures.';
  process.emitWarning(visibleText(shortened(text, LONGEST_WARNING)), {
    type: 'LongpoleWarning',
    code: 'LONGPOLE_PENDING_CALLS',
  });
}

// Converts ended runs of tasks on a Dask cluster into events. Corrects their times to the scheduler's clock and to a
// consistent order: no message is received before it was sent.
import { getOrMake } from '../base/lookUps.js';
import {
  ACTIONS,
  type Action,
  type ClusterObserver,
  type DropReason,
  droppedSamples,
  prefixOf,
  TASK_CANCELLED,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  TASK_SKIPPED,
  type TaskRuns,
} from '../protocol/clusterObserver.js';
import type { DaskRow, StartStop } from '../protocol/daskRows.js';
import type { FoundTask, MirrorTasks, OpenTask } from './mirrorTasks.js';
import type { MirrorWorker, MirrorWorkers } from './mirrorWorkers.js';
import type { ProfileMirror } from './profileMirror.js';

/** Maximum number of result types. Further types count as the first one. */
const MAX_TYPES = 65_535;
/** Bytes per second with which arguments travel at least, packed by the scheduler and unpacked by the worker. */
const SLOWEST = 10e6;

type Away = Pick<TaskRuns, 'seceded' | 'resumed' | 'waited'>;

const DROPPED = { skipped: TASK_SKIPPED, cancelled: TASK_CANCELLED, erred: TASK_ERRED } as const;

export class RunMirror {
  readonly #tasks: MirrorTasks;
  readonly #workers: MirrorWorkers;
  readonly #profiles: ProfileMirror;
  readonly #notify: (call: (observer: ClusterObserver) => void) => void;
  readonly #typeNames: string[] = [''];
  readonly #types = new Map<string, number>([['', 0]]);
  readonly #run = oneRun();

  constructor(
    tasks: MirrorTasks,
    workers: MirrorWorkers,
    profiles: ProfileMirror,
    notify: (call: (observer: ClusterObserver) => void) => void,
  ) {
    this.#tasks = tasks;
    this.#workers = workers;
    this.#profiles = profiles;
    this.#notify = notify;
  }

  ended(row: DaskRow<'ended'>): void {
    const found = this.#tasks.find(row.id);
    const open = this.#tasks.end(row.id);
    const worker = this.#workers.get(row.worker);
    const compute = row.startstops.findLast(({ action }) => action === 'compute');
    // Scattered results have no run.
    if (worker === undefined || compute === undefined) return;
    const into = this.#run;
    const corrected = this.#correct(row, worker, open, compute);
    const submitted = found.computation.submitted;
    // Times before the observation are NaN.
    into.ready[0] = orAfter(Math.min(open.ready, open.dispatched), submitted);
    into.dispatched[0] = open.dispatched;
    const stopped = Math.min(corrected(compute.stop), row.time);
    const started = Math.min(orAfter(corrected(compute.start), open.dispatched), stopped);
    const received = corrected((row.times?.received ?? Number.NaN) + (row.times?.delay ?? 0));
    into.received[0] = Math.min(orAfter(received, open.dispatched), started);
    into.started[0] = started;
    into.stopped[0] = stopped;
    into.states[0] = row.erred ? TASK_ERRED : TASK_MEMORY;
    into.nbytes[0] = row.erred ? 0 : row.nbytes;
    into.types[0] = this.#typeOf(row.resultType);
    into.threads[0] = worker.threadOf(row.thread, row.times?.slot);
    const left = corrected((row.times?.seceded ?? Number.NaN) + (row.times?.delay ?? 0));
    this.#arguments(found, worker.info.index, open, into.received[0]!);
    this.#sendRun(row.id, found, worker.info.index, row.time, awayFrom(left, started, stopped));
    this.#profiles.ran(worker.info.index, row.id, started, stopped);
    this.#intervals(row, worker, into.threads[0]!);
  }

  /**
   * Reports large arguments as a transfer from the program. The worker may have imported modules before it had unpacked them, so
   * only the time that they can take counts.
   */
  #arguments({ computation, local }: FoundTask, worker: number, open: OpenTask, received: number): void {
    const { nbytes = 0, dispatched } = open;
    if (nbytes === 0 || !(received > dispatched)) return;
    const transfer = {
      worker,
      peer: -1,
      direction: 'incoming',
      what: 'scatter',
      keys: [computation.keys[local] ?? ''],
      nbytes,
      compressed: nbytes,
      start: Math.max(dispatched, received - nbytes / SLOWEST),
      stop: received,
    } as const;
    this.#notify((observer) => observer.transfer?.(transfer));
  }

  /**
   * Updates the worker's clock. Returns a function that converts times with distributed's correction to the scheduler's
   * clock.
   */
  #correct(
    { times, time }: DaskRow<'ended'>,
    { clock }: MirrorWorker,
    open: OpenTask,
    compute: StartStop,
  ): (time: number) => number {
    if (times === undefined) return (reported) => reported;
    clock.sent(open.dispatched, times.received);
    clock.reported(compute.stop - times.delay, time);
    const more = clock.offset - times.delay;
    return (reported) => reported + more;
  }

  #intervals(
    { id, startstops, times }: DaskRow<'ended'>,
    { info, clock }: MirrorWorker,
    thread: number,
  ): void {
    let transfers = 0;
    for (const { action, start, stop } of startstops) {
      if (action === 'compute' || !isAction(action)) continue;
      const transfer = action === 'transfer' ? times?.transfers[transfers++] : undefined;
      // distributed does not correct the times of disk actions.
      const delay = action.startsWith('disk') ? 0 : (transfer?.delay ?? times?.delay);
      const more = delay === undefined ? 0 : clock.offset - delay;
      const interval = {
        worker: info.index,
        thread,
        action,
        start: start + more,
        stop: Math.max(start, stop) + more,
        task: id,
        nbytes: transfer?.nbytes ?? 0,
      };
      this.#notify((observer) => observer.interval?.(interval));
    }
  }

  left({ id, time, why, worker }: DaskRow<'left'>): void {
    const found = this.#tasks.find(id);
    const open = this.#tasks.end(id);
    // Like Dask's task stream, omits runs that returned their task to the scheduler. They take almost no time.
    if (open.worker < 0 || why === 'rescheduled') return;
    const into = this.#run;
    into.ready[0] = open.ready;
    into.dispatched[0] = open.dispatched;
    for (const column of [into.received, into.started, into.stopped]) column[0] = Number.NaN;
    into.states[0] = why === 'cancelled' ? TASK_CANCELLED : why === 'lost' ? TASK_LOST : TASK_ERRED;
    into.nbytes[0] = 0;
    into.types[0] = 0;
    into.threads[0] = 0;
    this.#sendRun(id, found, Number.isNaN(worker) ? open.worker : worker, time);
  }

  /** Reports tasks that will not run. Those without a run are counted by a metric. */
  dropped({ ids, time, why }: DaskRow<'dropped'>): void {
    const reason = DROPPED[why];
    for (const id of ids) {
      const { computation, local } = this.#tasks.find(id);
      this.#tasks.end(id);
      this.#notify((observer) => observer.tasksDropped?.(computation, [local], reason));
      // A task that failed without a run did not run, either.
      const counted = reason === TASK_ERRED ? TASK_SKIPPED : reason;
      if (this.#tasks.drop(id, counted)) this.#count(prefixOf(computation, local), counted, time, 1);
    }
  }

  /** Takes a task out of the count of dropped tasks if it was there, because it runs after all, e.g. if its client retries it. */
  undropped(id: number, time: number): void {
    const why = this.#tasks.undrop(id);
    const prefix = this.#tasks.kindOf(id)?.prefix;
    if (why !== undefined && prefix !== undefined) this.#count(prefix, why, time, -1);
  }

  #count(prefix: string, why: DropReason, time: number, each: number): void {
    for (const sample of droppedSamples([prefix], why, time, each))
      this.#notify((observer) => observer.metric?.(sample));
  }

  #sendRun(
    id: number,
    { computation, local }: FoundTask,
    worker: number,
    acknowledged: number,
    away: Away = {},
  ): void {
    const into = this.#run;
    into.ids[0] = local;
    into.attempts[0] = this.#tasks.attempt(id);
    const runs: TaskRuns = {
      computation,
      worker,
      count: 1,
      typeNames: this.#typeNames,
      acknowledged,
      ...into,
      ...away,
    };
    this.#notify((observer) => observer.tasksEnded?.(runs));
  }

  #typeOf(name: string): number {
    return getOrMake(this.#types, name, () =>
      this.#typeNames.length < MAX_TYPES ? this.#typeNames.push(name) - 1 : 0,
    );
  }
}

/**
 * Returns the times of a task that left its slot at a time, NaN for other tasks. What it did afterwards, on a thread of its own, is
 * unknown. Most such tasks await results of others.
 */
function awayFrom(time: number, started: number, stopped: number): Away {
  if (Number.isNaN(time)) return {};
  const seceded = Math.min(Math.max(time, started), stopped);
  return {
    seceded: Float64Array.of(seceded),
    resumed: Float64Array.of(stopped),
    waited: Float64Array.of(stopped - seceded),
  };
}

/** Returns the later time; NaN if `time` is unknown. */
function orAfter(time: number, before: number): number {
  return Number.isNaN(before) ? time : Math.max(time, before);
}

function isAction(text: string): text is Action {
  return ACTIONS.some((action) => action === text);
}

function oneRun() {
  return {
    ids: new Int32Array(1),
    states: new Uint8Array(1),
    types: new Uint16Array(1),
    nbytes: new Float64Array(1),
    attempts: new Uint8Array(1),
    threads: new Int32Array(1),
    ready: new Float64Array(1),
    dispatched: new Float64Array(1),
    received: new Float64Array(1),
    started: new Float64Array(1),
    stopped: new Float64Array(1),
  };
}

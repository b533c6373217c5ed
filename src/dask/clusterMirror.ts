// Converts rows of the bridge to a Dask cluster into events for observers: computations, runs, intervals, transfers,
// samples. All times are on the scheduler's clock and in a consistent order.
import { type Handlers, handle } from '../base/handlers.js';
import type { ClusterObserver, ResourceSample } from '../protocol/clusterObserver.js';
import { damagedRow } from '../protocol/daskCells.js';
import { DASK_PROTOCOL, type DaskRow, type Moved } from '../protocol/daskRows.js';
import {
  type BegunTask,
  STEALING,
  stealingText,
  TASKS_CUT_OFF,
  unfinishedText,
} from '../protocol/eventTopics.js';
import { spanId } from '../protocol/metrics.js';
import { MirrorTasks } from './mirrorTasks.js';
import { type MirrorWorker, MirrorWorkers } from './mirrorWorkers.js';
import { ProfileMirror } from './profileMirror.js';
import { RunMirror } from './runMirror.js';

/**
 * Seconds between ticks of an idle event loop of a worker: the default of distributed's setting `admin.tick.interval`.
 */
const TICK = 0.02;

/** Rows that may arrive before the bridge is attached, or if it cannot attach. */
const EARLY_ROWS: readonly DaskRow['type'][] = ['hello', 'warning', 'refused', 'closed'];

export class ClusterMirror {
  readonly tasks = new MirrorTasks();
  readonly workers = new MirrorWorkers();
  readonly #observers: readonly ClusterObserver[];
  readonly #profiles = new ProfileMirror(this.tasks);
  readonly #runs = new RunMirror(this.tasks, this.workers, this.#profiles, (call) => this.#notify(call));
  #hello: DaskRow<'hello'> | undefined;
  /** Seconds by which the scheduler's clock is ahead of this one, less the delay of the fastest row. */
  #ahead = Number.NEGATIVE_INFINITY;
  /** Latest status of the scheduler. */
  status: DaskRow<'status'> | undefined;

  readonly #handlers: Handlers<DaskRow> = {
    hello: (row) => this.#begin(row),
    ready: ({ id, time }) => {
      this.#runs.undropped(id, time);
      this.tasks.ready(id, time);
    },
    sent: ({ id, time, worker }) => this.tasks.sent(id, time, worker),
    arguments: ({ id, nbytes }) => this.tasks.sized(id, nbytes),
    ended: (row) => this.#runs.ended(row),
    left: (row) => this.#runs.left(row),
    dropped: (row) => this.#runs.dropped(row),
    forgotten: ({ ids }) => this.#forget(ids),
    beat: (row) => this.#beat(row),
    batch: (row) => this.#batch(row),
    worker: (row) => {
      const { info } = this.workers.add(row);
      this.#notify((observer) => observer.workerAdded?.(info));
    },
    'worker-gone': (row) => this.#workerGone(row),
    span: ({ id, tags }) => this.tasks.span(id, tags),
    graph: (row) => {
      const computation = this.tasks.add(row);
      this.#notify((observer) => observer.computationAdded?.(computation));
    },
    status: (row) => this.#takeStatus(row),
    machine: (row) => this.#machine(row),
    loop: ({ time, delay }) => this.#resources({ time, eventLoopDelay: delay }),
    event: ({ time, worker, topic, text }) => this.#event(time, worker, topic, text),
    stolen: (row) => this.#stolen(row),
    warning: ({ text }) => this.#event(this.clock(), -1, 'bridge', text),
    // DaskBridge handles these rows.
    refused: () => {},
    closed: () => {},
  };

  constructor(observers: readonly ClusterObserver[]) {
    this.#observers = observers;
  }

  get facts(): Readonly<Record<string, string>> {
    return this.#hello?.facts ?? {};
  }

  /** Seconds since the epoch on the scheduler's clock. */
  clock(): number {
    return Date.now() / 1000 + (Number.isFinite(this.#ahead) ? this.#ahead : 0);
  }

  /** @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE for a row that contradicts earlier ones */
  take(row: DaskRow): void {
    if (this.#hello === undefined && !EARLY_ROWS.includes(row.type))
      damagedRow(`a row '${row.type}' came before the row 'hello'`);
    handle(this.#handlers, row.type, row);
  }

  /** Reports the tasks that have not ended, at the end of the observation. Otherwise a trace would not show them. */
  reportUnfinished(): void {
    const now = this.status?.time ?? this.clock();
    const running = new Map<number, BegunTask>();
    const open = new Set(this.tasks.unfinished);
    for (const { info, running: tasks } of this.workers.all)
      for (const { id, key, started } of tasks)
        if (open.has(id))
          running.set(id, { key, worker: info.name, seconds: Math.max(0, now - started), isExact: true });
    const others = [...open]
      .filter((id) => !running.has(id))
      .map((id) => this.tasks.kindOf(id)?.prefix ?? '');
    const waiting = this.status?.states.get('waiting') ?? 0;
    if (open.size + waiting === 0) return;
    const text = unfinishedText({ begun: [...running.values()], others, waiting }, 'observation');
    this.#event(now, -1, TASKS_CUT_OFF, [text, ...this.#obstacles()].join(' '));
  }

  /** Yields why tasks did not start, as far as known. */
  *#obstacles(): Generator<string> {
    const refused = this.status?.states.get('no-worker') ?? 0;
    if (refused > 0)
      yield `No present worker may run ${refused} of them: compare their resources and workers.`;
    const paused = [...this.workers.all].filter(({ status }) => status?.status === 'paused');
    if (paused.length > 0)
      yield `Paused, because their memory was full: ${paused.map(({ info }) => info.name).join(', ')}.`;
  }

  #workerGone({ index, time, reason }: DaskRow<'worker-gone'>): void {
    const gone = this.workers.remove(index);
    if (gone === undefined) return;
    this.#profiles.gone(index);
    this.#notify((observer) => observer.workerRemoved?.(gone.info, time, reason));
  }

  #takeStatus(row: DaskRow<'status'>): void {
    this.status = row;
    this.#ahead = Math.max(this.#ahead, row.time - Date.now() / 1000);
    for (const one of row.workers) {
      const worker = this.workers.get(one.index);
      if (worker !== undefined) worker.status = one;
    }
  }

  #begin(row: DaskRow<'hello'>): void {
    if (row.protocol !== DASK_PROTOCOL)
      damagedRow(`its protocol has version ${row.protocol}, this program has version ${DASK_PROTOCOL}`);
    this.#hello = row;
    this.workers.scheduler(row.facts['Scheduler'] ?? '', row.bootId);
  }

  #notify(call: (observer: ClusterObserver) => void): void {
    for (const observer of this.#observers) call(observer);
  }

  #event(time: number, worker: number, topic: string, text: string): void {
    this.#notify((observer) => observer.event?.({ time, worker, topic, text }));
  }

  #stolen({ time, worker, thief, tasks, seconds }: DaskRow<'stolen'>): void {
    const to = this.workers.get(thief);
    if (to === undefined) return;
    this.#event(time, worker, STEALING, stealingText({ tasks, seconds, thief: to.info.name }));
  }

  #forget(ids: Float64Array): void {
    for (const id of ids) {
      const computation = this.tasks.forget(id);
      if (computation !== undefined) this.#notify((observer) => observer.computationForgotten?.(computation));
    }
  }

  #beat({ worker, time, cpu, tick, figures, process, managed, spilled, tasks }: DaskRow<'beat'>): void {
    const known = this.workers.get(worker);
    if (known === undefined) return;
    const unmanaged = Math.max(0, process - managed);
    known.memory = { worker, time, process, managed, unmanaged, spilled, tasks };
    known.eventLoopDelay = Math.max(0, tick - TICK);
    const { memory, eventLoopDelay } = known;
    this.#notify((observer) => observer.memory?.(memory));
    this.#resources({ worker, time, cpu, rss: process, eventLoopDelay, figures });
  }

  #machine({ time, cores, busy, used, workers, delay }: DaskRow<'machine'>): void {
    const figures = new Map([
      ['host_cores', cores],
      ['host_cpu', 100 * busy],
      ['workers_cpu', 100 * workers],
    ]);
    this.#resources({ time, cpu: 100 * used, eventLoopDelay: delay, figures });
  }

  /** Reports a sample of a worker; default: of the scheduler or its machine. */
  #resources(known: Partial<ResourceSample> & Pick<ResourceSample, 'time' | 'eventLoopDelay'>): void {
    const unknown = { cpu: Number.NaN, rss: Number.NaN, heap: Number.NaN, external: Number.NaN };
    const sample = { worker: -1, ...unknown, figures: new Map(), ...known };
    this.#notify((observer) => observer.resources?.(sample));
  }

  #batch(row: DaskRow<'batch'>): void {
    const worker = this.workers.at(row.address);
    if (worker === undefined) return;
    this.workers.clockOf(worker, row.bootId, row.delay);
    const { offset } = worker.clock;
    const { index } = worker.info;
    for (const moved of row.moved) this.#moved(worker, moved, offset);
    for (const { context, span, prefix, activity, unit, value } of row.metrics) {
      const id = context === 'execute' || context === 'p2p' ? spanId(this.tasks.tagsOf(span)) : '';
      const sample = {
        worker: index,
        time: row.time + offset,
        context,
        span: id,
        prefix,
        activity,
        unit,
        value,
      };
      this.#notify((observer) => observer.metric?.(sample));
    }
    worker.running = row.running.flatMap(({ key, started }) => {
      const id = this.tasks.processing(key);
      return id === undefined ? [] : [{ id, key, started: started + offset }];
    });
    for (const cycle of this.#profiles.cycles(worker, row))
      this.#notify((observer) => observer.profile?.(index, cycle, (id) => this.tasks.kindOf(id)));
    for (const { time, level, text } of row.logs) this.#event(time + offset, index, `log-${level}`, text);
  }

  /** Reports a transfer. A peer that is not a worker is a client, or the scheduler on behalf of a client. */
  #moved(worker: MirrorWorker, moved: Moved, offset: number): void {
    const peer = this.workers.at(moved.peer)?.info.index ?? -1;
    const between = moved.direction === 'incoming' ? 'gather-dep' : 'get-data';
    const transfer = {
      worker: worker.info.index,
      peer,
      direction: moved.direction,
      what: peer < 0 && moved.direction === 'outgoing' ? 'gather' : between,
      keys: moved.keys,
      nbytes: moved.nbytes,
      compressed: Number.isNaN(moved.compressed) ? moved.nbytes : moved.compressed,
      start: moved.start + offset,
      stop: Math.max(moved.start, moved.stop) + offset,
    } as const;
    this.#notify((observer) => observer.transfer?.(transfer));
  }
}

// Main side of the monitor thread. One thread serves all profilers and clusters of the process. It is started only
// once and sleeps between runs, because starting a thread costs some 20 ms of a core.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { LongpoleError, messageOf } from '../base/errors.js';
import { type GuardCell, guardThread, whenMayEnd } from './nativeGuard.js';
import { type TreeSample, treeSample } from './processTree.js';
import type { MonitorCommand, MonitorData, SessionSample, WatchSamples } from './resourceMonitorMessages.js';
import type { MonitorTarget } from './usageSampler.js';

/** A session in progress; each call of `drain` moves new samples to `samples`. */
export interface MonitorSession {
  readonly id: number;
  readonly samples: TreeSample[];
}

export interface WatchOptions {
  /** Seconds between two samples; more than 0; default 0.1. */
  readonly interval?: number;
  /** Program that reports GPUs; default `nvidia-smi`, found in PATH. */
  readonly gpu?: string;
}

/** Samples of the host and its workers until the watch is stopped. */
export interface ResourceWatch {
  /** Sets the targets from the next sample on. */
  setTargets(targets: readonly MonitorTarget[]): void;
  /** Delivers all samples taken so far, without waiting for the event loop. */
  drain(): void;
  /** Delivers all samples taken so far, and ends. */
  stop(): void;
}

/** Default interval in seconds. */
const WATCH_INTERVAL = 0.1;

export class ResourceMonitor {
  static #shared: ResourceMonitor | undefined;

  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #ownCpu: BigInt64Array;
  readonly #sessions = new Map<number, MonitorSession>();
  readonly #watches = new Set<number>();
  readonly #guard: GuardCell;
  #nextSession = 0;
  #failure: LongpoleError | undefined;

  /**
   * Returns the monitor of this process, and starts it if needed. Returns at once; the thread is ready some 20 ms
   * later.
   */
  static shared(): ResourceMonitor {
    ResourceMonitor.#shared ??= new ResourceMonitor(new URL('./resourceMonitorThread.js', import.meta.url));
    return ResourceMonitor.#shared;
  }

  /** @throws ERR_LONGPOLE_WORKER_START if the system refuses a thread */
  constructor(entry: URL) {
    const { port1, port2 } = new MessageChannel();
    const ownCpu = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
    const guard = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    this.#guard = { cells: guard, index: 0 };
    const workerData: MonitorData = { ownCpu, guard, port: port2 };
    this.#port = port1;
    this.#ownCpu = new BigInt64Array(ownCpu);
    const { PATH = '' } = process.env;
    try {
      this.#worker = new Worker(entry, {
        name: 'longpole-resource-monitor',
        workerData,
        transferList: [port2],
        // The thread is plain JavaScript: loaders and preloads of the program would only slow its start.
        execArgv: [],
        env: { PATH },
      });
    } catch (cause) {
      throw startError(cause);
    }
    this.#worker.unref();
    this.#worker.once('error', (cause) => this.#fail(startError(cause)));
    const unguard = guardThread(this.#guard);
    this.#worker.once('exit', (code) => {
      unguard();
      this.#fail(startError(new Error(`it ended with exit code ${code}`)));
    });
  }

  #fail(error: LongpoleError): void {
    this.#failure ??= error;
    if (ResourceMonitor.#shared === this) ResourceMonitor.#shared = undefined;
  }

  /**
   * Starts sampling every `dt` seconds. Takes the first sample here and now, so that the shortest run has one.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the thread has died
   */
  start(dt: number): MonitorSession {
    if (this.#failure) throw this.#failure;
    const session: MonitorSession = { id: this.#nextSession++, samples: [treeSample(this.#ownCpu)] };
    this.#sessions.set(session.id, session);
    this.#send({ type: 'tree', session: session.id, dt });
    return session;
  }

  /**
   * Delivers all samples that the thread has taken so far. Cost without new samples: about 1 µs.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the thread has died
   */
  drain(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      const sample: SessionSample = next.message;
      this.#sessions.get(sample.session)?.samples.push(sample);
    }
    if (this.#failure) throw this.#failure;
  }

  /** Ends a session with a last sample, taken here and now. */
  stop(session: MonitorSession): void {
    if (!this.#sessions.has(session.id)) return;
    try {
      this.drain();
    } finally {
      session.samples.push(treeSample(this.#ownCpu));
      this.#sessions.delete(session.id);
      this.#send({ type: 'stop', session: session.id });
    }
  }

  /**
   * Starts sampling the host and `targets`. Calls `deliver` on this thread's event loop. While that is busy, samples
   * arrive late but with the right times. Does not keep the process alive.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the thread has died
   */
  watch(
    targets: readonly MonitorTarget[],
    deliver: (samples: WatchSamples) => void,
    { interval = WATCH_INTERVAL, gpu = 'nvidia-smi' }: WatchOptions = {},
  ): ResourceWatch {
    if (this.#failure) throw this.#failure;
    const { port1, port2 } = new MessageChannel();
    const session = this.#nextSession++;
    this.#watches.add(session);
    port1.on('message', deliver);
    port1.unref();
    this.#send({ type: 'watch', session, dt: interval, targets, port: port2, gpu }, [port2]);
    const drain = (): void => {
      for (let next = receiveMessageOnPort(port1); next; next = receiveMessageOnPort(port1))
        deliver(next.message);
    };
    return {
      setTargets: (changed) => this.#send({ type: 'targets', session, targets: changed }),
      drain,
      stop: () => {
        if (!this.#watches.delete(session)) return;
        drain();
        this.#send({ type: 'stop', session });
        port1.close();
      },
    };
  }

  /** Ends the thread unless a session is open. The next `shared()` starts another one. */
  closeIfIdle(): void {
    if (this.#sessions.size > 0 || this.#watches.size > 0) return;
    if (ResourceMonitor.#shared === this) ResourceMonitor.#shared = undefined;
    whenMayEnd(this.#guard, () => void this.#worker.terminate());
  }

  #send(command: MonitorCommand, transfer: readonly MessagePort[] = []): void {
    this.#port.postMessage(command, transfer);
  }
}

function startError(cause: unknown): LongpoleError {
  const reason = messageOf(cause);
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `The thread that samples CPU and memory does not run (${reason}). ` +
      'Leave the resource profiler out, or allow the process one more thread.',
    { cause },
  );
}

// Main side of the monitor thread. One thread serves all resource profilers of the process; it is started once, because a
// thread costs some 20 ms of a core to start, and sleeps between runs.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { LongpoleError } from '../base/errors.js';
import { epochSeconds } from './clock.js';
import { processTreeUsage } from './processTree.js';
import {
  type MonitorCommand,
  type MonitorData,
  type MonitorSample,
  type ResourceSample,
  SIGNAL,
} from './resourceMonitorMessages.js';

/** A collection in progress: samples arrive in `samples` whenever `drain` is called. */
export interface MonitorSession {
  readonly id: number;
  readonly samples: ResourceSample[];
}

export class ResourceMonitor {
  static #shared: ResourceMonitor | undefined;

  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  readonly #ownCpu: BigInt64Array;
  readonly #sessions = new Map<number, MonitorSession>();
  #nextSession = 0;
  #failure: LongpoleError | undefined;

  /** The monitor of this process, started if it is not there; returns at once, the thread is up some 20 ms later. */
  static shared(): ResourceMonitor {
    ResourceMonitor.#shared ??= new ResourceMonitor(new URL('./resourceMonitorThread.js', import.meta.url));
    return ResourceMonitor.#shared;
  }

  /** @throws ERR_LONGPOLE_WORKER_START if the system refuses a thread */
  constructor(entry: URL) {
    const { port1, port2 } = new MessageChannel();
    const control = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const ownCpu = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
    const workerData: MonitorData = { control, ownCpu, port: port2 };
    this.#port = port1;
    this.#signal = new Int32Array(control);
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
    this.#worker.once('exit', (code) => this.#fail(startError(new Error(`it ended with exit code ${code}`))));
  }

  #fail(error: LongpoleError): void {
    this.#failure ??= error;
    if (ResourceMonitor.#shared === this) ResourceMonitor.#shared = undefined;
  }

  /**
   * Begins to sample every `dt` seconds. The first sample is taken here and now, so that no run is too short for one.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the thread has died
   */
  start(dt: number): MonitorSession {
    if (this.#failure) throw this.#failure;
    const session: MonitorSession = { id: this.#nextSession++, samples: [this.#sample()] };
    this.#sessions.set(session.id, session);
    this.#send({ type: 'start', session: session.id, dt });
    return session;
  }

  /**
   * Hands out what the thread has sampled so far. Cost without anything new: about 1 µs.
   *
   * @throws ERR_LONGPOLE_WORKER_START if the thread has died
   */
  drain(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      const sample: MonitorSample = next.message;
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
      session.samples.push(this.#sample());
      this.#sessions.delete(session.id);
      this.#send({ type: 'stop', session: session.id });
    }
  }

  /** Ends the thread unless somebody still collects; the next `shared()` starts another. */
  closeIfIdle(): void {
    if (this.#sessions.size > 0) return;
    if (ResourceMonitor.#shared === this) ResourceMonitor.#shared = undefined;
    void this.#worker.terminate();
  }

  #sample(): ResourceSample {
    const time = epochSeconds();
    const { cpu, rss } = processTreeUsage();
    return { time, cpu: cpu - Number(Atomics.load(this.#ownCpu, 0)) / 1e9, rss };
  }

  #send(command: MonitorCommand): void {
    this.#port.postMessage(command);
    Atomics.add(this.#signal, SIGNAL, 1);
    Atomics.notify(this.#signal, SIGNAL);
  }
}

function startError(cause: unknown): LongpoleError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `ResourceProfiler: the thread that samples CPU and memory does not run (${reason}). ` +
      'Leave ResourceProfiler out, or allow the process one more thread.',
    { cause },
  );
}

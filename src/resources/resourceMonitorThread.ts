// The monitor thread. Samples every dt seconds for each session, also while the main thread is blocked. Has no timer
// without a session. The process ends without waiting for this thread.
import { type MessagePort, workerData } from 'node:worker_threads';
import { epochSeconds } from './clock.js';
import { CpuClock } from './cpuClock.js';
import { GpuMonitor } from './gpuMonitor.js';
import { hostCounters } from './hostCounters.js';
import { setNativeGuard } from './nativeGuard.js';
import { coreTimes, diskBytes, processCounters } from './processCounters.js';
import { processTreeUsage, readProc } from './processTree.js';
import type { MonitorCommand, MonitorData, SessionSample, WatchSamples } from './resourceMonitorMessages.js';
import { type Counters, type MonitorTarget, UsageSampler } from './usageSampler.js';
import { readVitals } from './vitals.js';

interface Session {
  /** Interval in seconds. */
  readonly dt: number;
  /** Time of the next sample, in seconds since the epoch. */
  due: number;
  sample(): void;
  close?(): void;
}

class Monitor {
  readonly #port: MessagePort;
  readonly #own: BigInt64Array;
  readonly #sessions = new Map<number, Session>();
  readonly #watches = new Map<number, Watch>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ ownCpu, guard, port }: MonitorData) {
    setNativeGuard({ cells: guard, index: 0 });
    this.#port = port;
    this.#own = new BigInt64Array(ownCpu);
    port.on('message', (command: MonitorCommand) => this.#obey(command));
  }

  #obey(command: MonitorCommand): void {
    const { session } = command;
    switch (command.type) {
      case 'tree': {
        const { dt } = command;
        this.#sessions.set(session, {
          dt,
          due: epochSeconds() + dt,
          sample: () => this.#sampleTree(session),
        });
        break;
      }
      case 'watch': {
        const watch = new Watch(command);
        this.#sessions.set(session, watch);
        this.#watches.set(session, watch);
        break;
      }
      case 'targets':
        this.#watches.get(session)?.retarget(command.targets);
        break;
      case 'stop':
        this.#sessions.get(session)?.close?.();
        this.#sessions.delete(session);
        this.#watches.delete(session);
        break;
    }
    this.#wait();
  }

  #sampleDue(): void {
    const time = epochSeconds();
    const due = [...this.#sessions.values()].filter((session) => session.due <= time);
    Atomics.store(this.#own, 0, threadCpu());
    for (const session of due) {
      session.sample();
      // A late sample shifts the schedule. There is no burst to catch up.
      session.due = Math.max(session.due + session.dt, epochSeconds() + session.dt / 2);
    }
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#sessions.size === 0) return;
    const nextDue = Math.min(...[...this.#sessions.values()].map(({ due }) => due));
    this.#timer = setTimeout(() => this.#sampleDue(), Math.max(0, (nextDue - epochSeconds()) * 1000));
  }

  #sampleTree(session: number): void {
    const time = epochSeconds();
    const { cpu, rss } = processTreeUsage();
    const own = Number(Atomics.load(this.#own, 0)) / 1e9;
    this.#port.postMessage({ session, time, cpu: cpu - own, rss } satisfies SessionSample);
  }
}

/** Samples of the host and its workers. */
class Watch implements Session {
  readonly dt: number;
  due: number;
  readonly #port: MessagePort;
  readonly #gpu: GpuMonitor;
  readonly #sampler: UsageSampler;
  #targets: readonly MonitorTarget[];

  constructor({ dt, targets, port, gpu }: Extract<MonitorCommand, { type: 'watch' }>) {
    this.dt = dt;
    this.due = epochSeconds() + dt;
    this.#port = port;
    this.#targets = targets;
    this.#gpu = new GpuMonitor(gpu);
    this.#gpu.start();
    this.#sampler = new UsageSampler(countersOf(new CpuClock(), this.#gpu));
    // Rates need a sample before the first one.
    this.#sampler.sample(epochSeconds(), targets);
  }

  retarget(targets: readonly MonitorTarget[]): void {
    this.#targets = targets;
  }

  sample(): void {
    const samples: WatchSamples = this.#sampler.sample(epochSeconds(), this.#targets);
    this.#port.postMessage(samples);
  }

  close(): void {
    this.#gpu.stop();
    this.#port.close();
  }
}

function countersOf(clock: CpuClock, gpu: GpuMonitor): Counters {
  return {
    host: hostCounters,
    process: (pid) => processCounters(pid, clock),
    thread: (pid, tid) => {
      const [read, written] = diskBytes(`${pid}/task/${tid}`);
      return { cpu: clock.thread(pid, tid), read, written };
    },
    coreTimes,
    gpus: () => gpu.read(),
    vitals: readVitals,
  };
}

/** Returns the CPU nanoseconds of this thread; 0 if unknown, so that the monitor then counts as part of the program. */
function threadCpu(): bigint {
  return BigInt(readProc('thread-self/schedstat')?.split(' ')[0] ?? 0);
}

const data: MonitorData = workerData;
new Monitor(data);

// The monitor thread. Samples every dt seconds for each session, also while the main thread is blocked. Has no timer
// without a session. The process ends without waiting for this thread.
import { workerData } from 'node:worker_threads';
import { epochSeconds } from './clock.js';
import { CpuClock } from './cpuClock.js';
import { GpuMonitor } from './gpuMonitor.js';
import { hostCounters } from './hostCounters.js';
import { setNativeGuard } from './nativeGuard.js';
import { coreTimes, diskBytes, processCounters } from './processCounters.js';
import { readProc, treeSample } from './processTree.js';
import type { MonitorCommand, MonitorData, SessionSample, WatchSamples } from './resourceMonitorMessages.js';
import { type Counters, type MonitorTarget, UsageSampler } from './usageSampler.js';
import { readVitals } from './vitals.js';

interface Session {
  /** Interval in seconds. */
  readonly dt: number;
  /** Time of the next sample, in seconds since the epoch. */
  due: number;
  sample(): void;
  retarget?(targets: readonly MonitorTarget[]): void;
  close?(): void;
}

const { ownCpu, guard, port }: MonitorData = workerData;
const own = new BigInt64Array(ownCpu);
const sessions = new Map<number, Session>();
let timer: NodeJS.Timeout | undefined;

setNativeGuard({ cells: guard, index: 0 });
port.on('message', (command: MonitorCommand) => {
  const { session, type } = command;
  if (type === 'tree') sessions.set(session, treeSession(session, command.dt));
  else if (type === 'watch') sessions.set(session, watchSession(command));
  else if (type === 'targets') sessions.get(session)?.retarget?.(command.targets);
  else {
    sessions.get(session)?.close?.();
    sessions.delete(session);
  }
  wait();
});

function wait(): void {
  clearTimeout(timer);
  if (sessions.size === 0) return;
  const nextDue = Math.min(...Array.from(sessions.values(), ({ due }) => due));
  timer = setTimeout(sampleDue, Math.max(0, (nextDue - epochSeconds()) * 1000));
}

function sampleDue(): void {
  const time = epochSeconds();
  const due = [...sessions.values()].filter((session) => session.due <= time);
  Atomics.store(own, 0, threadCpu());
  for (const session of due) {
    session.sample();
    // A late sample shifts the schedule. There is no burst to catch up.
    session.due = Math.max(session.due + session.dt, epochSeconds() + session.dt / 2);
  }
  wait();
}

/** Samples of the program's processes. */
function treeSession(session: number, dt: number): Session {
  const sample = (): void => {
    port.postMessage({ session, ...treeSample(own) } satisfies SessionSample);
  };
  return { dt, due: epochSeconds() + dt, sample };
}

/** Samples of the host and its workers. */
function watchSession(watch: Extract<MonitorCommand, { type: 'watch' }>): Session {
  const { dt, port: samplesTo } = watch;
  const due = epochSeconds() + dt;
  let { targets } = watch;
  const gpu = new GpuMonitor(watch.gpu);
  gpu.start();
  const sampler = new UsageSampler(countersOf(new CpuClock(), gpu));
  // Rates need a sample before the first one.
  sampler.sample(epochSeconds(), targets);
  return {
    dt,
    due,
    retarget: (present) => {
      targets = present;
    },
    sample: () => samplesTo.postMessage(sampler.sample(epochSeconds(), targets) satisfies WatchSamples),
    close: () => {
      gpu.stop();
      samplesTo.close();
    },
  };
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

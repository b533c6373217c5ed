// The monitor thread: samples the process tree every dt seconds for each session, also while the main thread is blocked, and
// sleeps without a timer while there is none. It never returns to its event loop; the process ends without asking it.
import { readFileSync } from 'node:fs';
import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import { epochSeconds } from './clock.js';
import { processTreeUsage } from './processTree.js';
import {
  type MonitorCommand,
  type MonitorData,
  type MonitorSample,
  SIGNAL,
} from './resourceMonitorMessages.js';

interface Session {
  /** Seconds. */
  readonly dt: number;
  /** When its next sample is due, in seconds since the epoch. */
  due: number;
}

function monitor({ control, ownCpu, port }: MonitorData): void {
  const signal = new Int32Array(control);
  const own = new BigInt64Array(ownCpu);
  const sessions = new Map<number, Session>();

  const obey = (command: MonitorCommand): void => {
    if (command.type === 'start')
      sessions.set(command.session, { dt: command.dt, due: epochSeconds() + command.dt });
    else sessions.delete(command.session);
  };

  const sampleDue = (): void => {
    const time = epochSeconds();
    const due = [...sessions].filter(([, session]) => session.due <= time);
    if (due.length === 0) return;
    const usage = processTreeUsage();
    const ownNanoseconds = threadCpu();
    Atomics.store(own, 0, ownNanoseconds);
    const resumed = epochSeconds();
    for (const [id, session] of due) {
      const cpu = usage.cpu - Number(ownNanoseconds) / 1e9;
      const sample: MonitorSample = { session: id, time, cpu, rss: usage.rss };
      port.postMessage(sample);
      // A late sample moves the rhythm; no burst makes up for it.
      session.due = Math.max(session.due + session.dt, resumed + session.dt / 2);
    }
  };

  for (;;) {
    const seen = Atomics.load(signal, SIGNAL);
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) obey(next.message);
    sampleDue();
    const nextDue = Math.min(...[...sessions.values()].map((session) => session.due));
    Atomics.wait(signal, SIGNAL, seen, Math.max(0, (nextDue - epochSeconds()) * 1000));
  }
}

/** CPU nanoseconds of this thread; 0 where the system does not tell, so that the monitor then counts as part of the program. */
function threadCpu(): bigint {
  try {
    return BigInt(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0] ?? 0);
  } catch {
    return 0n;
  }
}

monitor(workerData);

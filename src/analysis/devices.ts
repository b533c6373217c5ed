// Finds the place of each task: the pairs (host, device) by which the bottleneck tables group tasks.
import { getOrMake, oncePer } from '../base/lookUps.js';
import { StringTable } from '../trace/stringTable.js';
import type { Trace } from '../trace/trace.js';
import { PairIndex } from './pairIndex.js';

/** Places in the order of their first task. */
export interface Places {
  /** Place by row of tasks. */
  readonly place: Int32Array;
  /** Host by place, as an id of the trace's strings; -1 if unknown. */
  readonly host: Int32Array;
  /** Device by place, as an id of `deviceNames`; -1 if unknown. */
  readonly device: Int32Array;
  readonly deviceNames: StringTable;
  /** Seconds of computation by place. */
  readonly seconds: Float64Array;
}

/**
 * Returns the places of a trace, computed once. The device of a task is the recorded one. DASF records no device, but
 * worker `n` of a host uses GPU `n`. This rule applies to workers with a number as their name, on hosts with samples of
 * a GPU. Otherwise the device is unknown.
 */
export const placesOf = oncePer((trace: Trace): Places => {
  const { tasks, strings } = trace;
  const gpuHosts = hostsWithGpu(trace);
  const deviceNames = new StringTable();
  const named = new Map<number, number>();
  const numbered = new Map<number, number>();
  const pairs = new PairIndex(strings.length + trace.workers.length + 2);
  const place = new Int32Array(tasks.length);
  const seconds: number[] = [];
  const { host: hosts, worker, device: devices, duration } = tasks;
  for (let row = 0; row < tasks.length; row++) {
    const host = hosts[row]!;
    let device = -1;
    if (devices[row]! >= 0) {
      device = getOrMake(named, devices[row]!, () => deviceNames.internString(strings.get(devices[row]!)));
    } else if (gpuHosts.has(host)) {
      device = getOrMake(numbered, worker[row]!, () => workerNumber(trace, worker[row]!, deviceNames));
    }
    const index = pairs.of(host, device + 1);
    place[row] = index;
    // Runs that were lost with their worker have no duration.
    seconds[index] = (seconds[index] ?? 0) + (duration[row]! || 0);
  }
  return {
    place,
    host: pairs.firsts,
    device: pairs.seconds.map((device) => device - 1),
    deviceNames,
    seconds: Float64Array.from(seconds),
  };
});

function hostsWithGpu({ resources }: Trace): Set<number> {
  const hosts = new Set<number>();
  for (let row = 0; row < resources.length; row++) {
    if (!Number.isNaN(resources.gpuUtilization[row]!) || !Number.isNaN(resources.gpuMemoryUsed[row]!)) {
      hosts.add(resources.host[row]!);
    }
  }
  return hosts;
}

/** Returns the id of `3` for `worker-c096-3`; -1 for a name that does not end in a number. */
function workerNumber({ workers, strings }: Trace, worker: number, deviceNames: StringTable): number {
  if (worker < 0) return -1;
  const number = /-(\d+)$/.exec(strings.get(workers.name[worker]!))?.[1];
  return number === undefined ? -1 : deviceNames.internString(number);
}

// DASF's resource plugin for a cluster of Longpole. Every sample of the host and of its workers becomes a Resource
// Usage event, with the ten figures of DASF's monitor under DASF's names, and with further figures.
import type { ClusterObserver, ResourceSample, WorkerInfo } from '../protocol/clusterObserver.js';
import type { EventArgs } from '../trace/formats/dasf/dasfEvents.js';
import { RESOURCE_EVENT } from '../trace/formats/dasf/dasfEvents.js';
import type { EventProfiler } from './eventProfiler.js';
import { dasfWorkerName } from './tracePlugin.js';

/** DASF's figures other than CPU, memory and time, in the order of DASF's files. */
const FIGURES = [
  'host_net_io.read_bps',
  'host_net_io.write_bps',
  'host_disk_io.read_bps',
  'host_disk_io.write_bps',
  'num_fds',
  'gpu_utilization',
  'gpu_memory_used',
] as const;

/**
 * Records resources like DASF's `ResourceMonitor`. Samples of a worker have its name; those of the host have none.
 * Unknown figures are NaN in the file, because DASF computes with the GPU figures of every sample, and fails at any
 * other value.
 */
export class ResourcePlugin implements ClusterObserver {
  readonly #profiler: EventProfiler;
  readonly #host: string;
  readonly #workers = new Map<number, WorkerInfo>();

  constructor(profiler: EventProfiler, host: string) {
    this.#profiler = profiler;
    this.#host = host;
  }

  workerAdded(worker: WorkerInfo): void {
    this.#workers.set(worker.index, worker);
  }

  workerRemoved(worker: WorkerInfo): void {
    this.#workers.delete(worker.index);
  }

  resources(sample: ResourceSample): void {
    const worker = this.#workers.get(sample.worker);
    if (worker === undefined && sample.worker >= 0) return;
    this.#profiler.recordInstantEvent(RESOURCE_EVENT, sample.time, {
      processId: worker?.host ?? this.#host,
      threadId: worker === undefined ? null : dasfWorkerName(worker),
      args: argsOf(sample),
    });
  }
}

function argsOf({ cpu, rss, time, heap, external, eventLoopDelay, figures }: ResourceSample): EventArgs {
  const args: EventArgs = { cpu, memory: rss, time };
  for (const name of FIGURES) args[name] = figures?.get(name) ?? Number.NaN;
  Object.assign(args, { heap, external, event_loop_delay: eventLoopDelay });
  for (const [name, value] of figures ?? []) args[name] = value;
  return args;
}

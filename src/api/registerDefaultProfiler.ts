// `registerDefaultProfiler`: DASF's two plugins on a client, each with a file of its own.

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { checkOptions, FLAG, invalid, kind, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument, LongpoleError } from '../base/errors.js';
import { openNvtx } from '../engine/worker/nvtx.js';
import { EventProfiler } from '../files/eventProfiler.js';
import { makeFolders } from '../files/makeFolders.js';
import { ResourcePlugin } from '../files/resourcePlugin.js';
import { WorkerTaskPlugin } from '../files/tracePlugin.js';
import type { ClusterObserver, WorkerInfo } from '../protocol/clusterObserver.js';
import { Client } from './cluster/client.js';
import { Pipeline } from './pipeline.js';

export interface DefaultProfilerOptions {
  /** What the names of the files begin with. Default `default`. */
  readonly name?: string;
  /** Marks every task as an NVTX range. Default false. */
  readonly enableNvtx?: boolean;
  /** Adds the seconds since the epoch to the name. Default true. */
  readonly addTimeSuffix?: boolean;
  /** Where the files go; made if it is not there. Default: the current folder. */
  readonly directory?: string;
}

const OPTIONS: OptionKinds<DefaultProfilerOptions> = {
  name: kind('the beginning of a file name', (value) => typeof value === 'string'),
  enableNvtx: FLAG,
  addTimeSuffix: FLAG,
  directory: TEXT,
};

/** What the profiler writes to; ends when it is closed, or disposed of by `using`. */
export interface DefaultProfiler {
  /** Absolute path of NAME-TracePlugin-HOST.msgpack. */
  readonly traceFile: string;
  /** Absolute path of NAME-ResourceMonitor-HOST.msgpack. */
  readonly resourceFile: string;
  /** Stops recording and writes what is queued. May be called twice. */
  close(): void;
  [Symbol.dispose](): void;
}

/**
 * Records what a client's cluster does from now on, in the files that DASF's default profiler writes:
 * NAME-TracePlugin-HOST.msgpack with every task that ends and what the workers hold, NAME-ResourceMonitor-HOST.msgpack with the
 * figures of the host and of each worker, ten times a second. Both are complete when the profiler or the cluster is closed, and
 * when the process ends.
 *
 *     using profiler = registerDefaultProfiler(pipeline, { name: 'Tutorial_5_Profile', addTimeSuffix: false });
 *
 * With `enableNvtx` the tasks of what is computed from now on are NVTX ranges of their keys; where the system has no NVTX
 * library a warning says so, once.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for a pipeline without a client, or a name that is none;
 *   ERR_LONGPOLE_TRACE_FILE if the directory cannot be made; ERR_LONGPOLE_WORKER_START if the system refuses a thread
 * @source seed 004, DASF's `register_default_profiler`
 */
export function registerDefaultProfiler(
  target: Pipeline | Client,
  options: DefaultProfilerOptions = {},
): DefaultProfiler {
  checkOptions('registerDefaultProfiler()', options, OPTIONS);
  const client = target instanceof Pipeline ? target.client : target;
  if (client !== undefined && !(client instanceof Client))
    throw invalid('registerDefaultProfiler()', client, 'a Pipeline or a Client');
  if (client === undefined) {
    throw invalidArgument(
      `The pipeline '${target.name}' has no client whose cluster could be recorded: new Pipeline(name, { client }).`,
    );
  }
  const { name = 'default', enableNvtx = false, addTimeSuffix = true, directory = '.' } = options;
  if (name === '' || /[/\\]/.test(name)) {
    throw invalidArgument(
      `name: expected the beginning of a file name, not '${name}'. The option 'directory' says where files go.`,
    );
  }
  const full = addTimeSuffix ? `${name}-${Math.floor(Date.now() / 1000)}` : name;
  makeDirectory(directory);
  const host = hostname();
  const file = (plugin: string): string => resolve(directory, `${full}-${plugin}-${host}.msgpack`);
  const profiler = new PluginFiles(client, file('TracePlugin'), file('ResourceMonitor'), host);
  if (enableNvtx) markTasks(client);
  return profiler;
}

function makeDirectory(directory: string): void {
  try {
    makeFolders(directory);
  } catch (cause) {
    throw new LongpoleError('ERR_LONGPOLE_TRACE_FILE', `${directory} cannot be made: ${String(cause)}.`, {
      cause,
    });
  }
}

const NO_NVTX =
  'There is no NVTX library (libnvToolsExt.so.1, libnvtx3interop.so, or what LONGPOLE_NVTX_LIBRARY names): tasks are not marked.';
let warned = false;

function markTasks(client: Client): void {
  if (openNvtx() !== undefined) {
    client.cluster.engine.marksTasks = true;
    return;
  }
  if (!warned) process.emitWarning(NO_NVTX, 'LongpoleWarning');
  warned = true;
}

class PluginFiles implements DefaultProfiler {
  readonly traceFile: string;
  readonly resourceFile: string;
  readonly #profilers: readonly EventProfiler[];
  readonly #stops: (() => void)[];

  constructor(client: Client, traceFile: string, resourceFile: string, host: string) {
    this.traceFile = traceFile;
    this.resourceFile = resourceFile;
    const [tasks, resources] = [new EventProfiler(traceFile), new EventProfiler(resourceFile)];
    this.#profilers = [tasks, resources];
    const commit = (): void => {
      for (const profiler of this.#profilers) profiler.commit();
    };
    const observers: ClusterObserver[] = [
      new WorkerTaskPlugin(tasks),
      new ResourcePlugin(resources, host),
      new CommitAtEnd(commit),
    ];
    this.#stops = observers.map((observer) => client.observe(observer));
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
    for (const profiler of this.#profilers) profiler.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Files are complete once the cluster has no workers any more. */
class CommitAtEnd implements ClusterObserver {
  readonly #workers = new Set<number>();
  readonly #commit: () => void;

  constructor(commit: () => void) {
    this.#commit = commit;
  }

  workerAdded(worker: WorkerInfo): void {
    this.#workers.add(worker.index);
  }

  workerRemoved(worker: WorkerInfo): void {
    this.#workers.delete(worker.index);
    if (this.#workers.size === 0) this.#commit();
  }
}

// `registerDefaultProfiler`: records a client's cluster with DASF's two plugins, each into a separate file.

import { closeSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  CALLABLE,
  CLIENT,
  checkOptions,
  FLAG,
  invalid,
  kind,
  type OptionKinds,
  TEXT,
} from '../base/arguments.js';
import { invalidArgument, notWrittenError } from '../base/errors.js';
import { openNvtx } from '../engine/worker/nvtx.js';
import { EventProfiler } from '../files/eventProfiler.js';
import { ResourcePlugin, WorkerTaskPlugin } from '../files/tracePlugin.js';
import { makeFolders } from '../files/writePieces.js';
import { toStderr } from '../pipeline/pipeline.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { Client } from './cluster/client.js';
import { Pipeline } from './pipeline.js';

export interface DefaultProfilerOptions {
  /** First part of the names of the files. Default `default`. */
  readonly name?: string;
  /** Whether every task is marked as an NVTX range. Default false. */
  readonly enableNvtx?: boolean;
  /** Whether the seconds since the epoch are appended to the name. Default true. */
  readonly addTimeSuffix?: boolean;
  /** Folder for the files, created if missing. Default: the working directory. */
  readonly directory?: string;
  /** Receives a line of text for each registered plugin. Default: the log of the pipeline, or stderr for a client. */
  readonly log?: (line: string) => void;
}

const OPTIONS: OptionKinds<DefaultProfilerOptions> = {
  name: kind('the first part of a file name', (value) => typeof value === 'string'),
  enableNvtx: FLAG,
  addTimeSuffix: FLAG,
  directory: TEXT,
  log: CALLABLE,
};

/** Files of a recording that ends with `close()`, or with the block of `using`. */
export interface DefaultProfiler {
  /** Absolute path of NAME-TracePlugin-HOST.msgpack. */
  readonly traceFile: string;
  /** Absolute path of NAME-ResourceMonitor-HOST.msgpack. */
  readonly resourceFile: string;
  /** Stops recording and writes the queued events. Further calls have no effect. */
  close(): void;
  [Symbol.dispose](): void;
}

/**
 * Records a client's cluster from now on, in the files that DASF's default profiler writes:
 * - NAME-TracePlugin-HOST.msgpack: every task that ends, and the memory of the results of each worker
 * - NAME-ResourceMonitor-HOST.msgpack: resource usage of the host and of each worker, ten times a second
 *
 * The files exist from the call on. They are complete when the profiler is closed, the cluster is closed, or the process
 * ends. A run that ends before the first sample leaves a ResourceMonitor file without events.
 *
 *     using profiler = registerDefaultProfiler(pipeline, { name: 'Tutorial_5_Profile', addTimeSuffix: false });
 *
 * With `enableNvtx`, each task of later computations is an NVTX range named by its key. If the system has no NVTX
 * library, the first call emits a warning.
 *
 * @returns the paths of the files, and `close()`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for a pipeline without a client, or a name that is empty or has a
 *   slash; ERR_LONGPOLE_TRACE_FILE if the directory or a file cannot be created; ERR_LONGPOLE_WORKER_START if the
 *   system refuses a thread
 * @source DASF's `register_default_profiler`
 */
export function registerDefaultProfiler(
  target: Pipeline | Client,
  options: DefaultProfilerOptions = {},
): DefaultProfiler {
  checkOptions('registerDefaultProfiler()', options, OPTIONS);
  const client = target instanceof Pipeline ? target.client : target;
  if (target instanceof Pipeline && client === undefined) {
    throw invalidArgument(
      `The pipeline '${target.name}' has no client to record. Create it with new Pipeline(name, { client }).`,
    );
  }
  if (client === undefined || !CLIENT.accepts(client))
    throw invalid('registerDefaultProfiler()', client, 'a Pipeline or a Client');
  const { name = 'default', enableNvtx = false, addTimeSuffix = true, directory = '.' } = options;
  if (name === '' || /[/\\]/.test(name)) {
    throw invalidArgument(
      `name: expected the first part of a file name, not '${name}'. Use the option 'directory' for a folder.`,
    );
  }
  const full = addTimeSuffix ? `${name}-${Math.floor(Date.now() / 1000)}` : name;
  const host = hostname();
  const file = (plugin: string): string => resolve(directory, `${full}-${plugin}-${host}.msgpack`);
  const [traceFile, resourceFile] = [file('TracePlugin'), file('ResourceMonitor')];
  createFiles(directory, [traceFile, resourceFile]);
  const profiler = recordPlugins(client, traceFile, resourceFile, host);
  if (enableNvtx) markTasks(client);
  const log = options.log ?? (target instanceof Pipeline ? target.log : toStderr);
  log(`Registered worker plugin: ${full}-TracePlugin`);
  log(`Registered resource plugin: ${full}-ResourceMonitor`);
  return profiler;
}

/** Creates the folder and the files that are missing, so that a short run also leaves files that can be analysed. */
function createFiles(directory: string, files: readonly string[]): void {
  let path = directory;
  try {
    makeFolders(directory);
    for (path of files) closeSync(openSync(path, 'a'));
  } catch (cause) {
    throw notWrittenError(path, cause);
  }
}

const NO_NVTX =
  'There is no NVTX library (libnvToolsExt.so.1 or libnvtx3interop.so), so tasks are not marked. Install one, or set LONGPOLE_NVTX_LIBRARY to its path.';
let warned = false;

function markTasks(client: Client): void {
  if (openNvtx() !== undefined) {
    client.cluster.engine.marksTasks = true;
    return;
  }
  if (!warned) process.emitWarning(NO_NVTX, 'LongpoleWarning');
  warned = true;
}

function recordPlugins(
  client: Client,
  traceFile: string,
  resourceFile: string,
  host: string,
): DefaultProfiler {
  const [tasks, resources] = [new EventProfiler(traceFile), new EventProfiler(resourceFile)];
  const profilers = [tasks, resources];
  const commit = (): void => {
    for (const profiler of profilers) profiler.commit();
  };
  const observers = [new WorkerTaskPlugin(tasks), new ResourcePlugin(resources, host), atEnd(commit)];
  const stops = observers.map((observer) => client.observe(observer));
  const close = (): void => {
    for (const stop of stops.splice(0)) stop();
    for (const profiler of profilers) profiler.close();
  };
  return { traceFile, resourceFile, close, [Symbol.dispose]: close };
}

/** Returns an observer that calls `commit` when the last worker of the cluster has been removed. */
function atEnd(commit: () => void): ClusterObserver {
  const workers = new Set<number>();
  return {
    workerAdded: ({ index }) => void workers.add(index),
    workerRemoved: ({ index }) => {
      workers.delete(index);
      if (workers.size === 0) commit();
    },
  };
}

// Builds a trace from the records of profilers, for a report with the usual views and analyses.
import { hostname } from 'node:os';
import { keySplit } from '../base/keySplit.js';
import { getOrMake } from '../base/lookUps.js';
import { keyGroup } from '../trace/keyGroup.js';
import { addCacheStays, addSamples, type SampledLevel } from '../trace/localMetrics.js';
import { StringTable } from '../trace/stringTable.js';
import type { Trace } from '../trace/trace.js';
import { TraceBuilder, UNKNOWN_TASK } from '../trace/traceBuilder.js';
import { type CachedRun, heldResults, type RunRecording } from './runRecording.js';
import { taskText } from './taskText.js';

export const ADD_TO: unique symbol = Symbol('longpole.addTo');

/** Argument of `visualize`: a Profiler, a ResourceProfiler or a CacheProfiler. */
export interface PageSource {
  [ADD_TO](page: ProfilerTrace): void;
}

/**
 * Collects the records of profilers. `plots` has the names of the plots for the address of the page, in the order in
 * which the profilers were added: `tasks`, `resources`, `memory`, and `cache` with the name of the metric.
 */
export class ProfilerTrace {
  readonly plots: string[] = [];
  readonly #builder = new TraceBuilder(new StringTable());
  readonly #host = this.#builder.strings.internString(hostname());
  /** First row that is not cleared, by run of a Profiler. */
  readonly #profiled = new Map<RunRecording, number>();
  readonly #cached = new Map<string, readonly CachedRun[]>();

  addTasks(runs: Iterable<{ readonly recording: RunRecording; readonly from: number }>): void {
    this.#show('tasks');
    for (const { recording, from } of runs)
      this.#profiled.set(recording, Math.min(from, this.#profiled.get(recording) ?? from));
  }

  /** Adds samples of this process with its threads and child processes. */
  addResources(
    samples: Iterable<{ readonly time: number; readonly mem: number; readonly cpu: number }>,
  ): void {
    this.#show('resources');
    const { resources } = this.#builder;
    for (const { time, mem, cpu } of samples) {
      const figures = new Map([
        ['cpu', cpu],
        ['rss', mem * 1e6],
      ]);
      resources.add({ time, worker: -1, host: this.#host }, figures);
    }
  }

  /** Adds the runs of a CacheProfiler. Profilers with equal names of the metric have separate plots. */
  addCache(metricName: string, runs: readonly CachedRun[]): void {
    const plain = metricName.replace(/\s+/g, ' ');
    let name = plain;
    for (let number = 2; this.#cached.has(name); number++) name = `${plain} ${number}`;
    this.#cached.set(name, runs);
    this.#show(`cache ${name}`);
  }

  addMemory(levels: readonly SampledLevel[]): void {
    this.#show('memory');
    addSamples(this.#builder.metrics, this.#builder.strings, levels);
  }

  #show(plot: string): void {
    if (!this.plots.includes(plot)) this.plots.push(plot);
  }

  /** Builds the trace. Call this method once. */
  build(): Trace {
    const runs = new Map(this.#profiled);
    // Without a Profiler, the runs of CacheProfilers have the tasks.
    const profiled = this.plots.includes('tasks');
    for (const { recording } of [...this.#cached.values()].flat())
      getOrMake(runs, recording, () => (profiled ? recording.tasks.length : 0));
    const firstIds = new Map<RunRecording, number>();
    let nextId = 0;
    for (const [recording, from] of runs) {
      firstIds.set(recording, nextId);
      this.#addComputation(recording, nextId);
      this.#addRuns(recording, nextId, from);
      nextId += recording.computation.size;
    }
    for (const [name, cached] of this.#cached) this.#addStays(name, cached, firstIds);
    return this.#builder.build();
  }

  #addComputation({ computation, endTime: stop }: RunRecording, firstId: number): void {
    const { computations } = this.#builder;
    const { size, submitted: start, keys, client, code } = computation;
    computations.push({ number: computations.length + 1, firstId, size, start, stop, keys, client, code });
  }

  #addRuns(recording: RunRecording, firstId: number, from: number): void {
    const { strings, keys, dependencies, computations } = this.#builder;
    const { tasks, computation } = recording;
    const { dependencyOffsets, dependencies: needs } = computation;
    const span = strings.internString('default');
    const isKey = (key: string): boolean => recording.has(key);
    for (let row = from; row < tasks.length; row++) {
      const id = tasks.ids[row]!;
      const key = computation.keys[id]!;
      const prefix = keySplit(key);
      const [started, stop] = [
        tasks.startTimes[row]!,
        Math.max(tasks.startTimes[row]!, tasks.stopTimes[row]!),
      ];
      for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++)
        dependencies.push(keys.internString(computation.keys[needs[edge]!]!));
      this.#builder.addTask(
        {
          ...UNKNOWN_TASK,
          key: keys.internString(key),
          host: this.#host,
          worker: strings.internString(recording.workerName(tasks.workers[row]!)),
          stop,
          duration: stop - started,
        },
        {
          id: firstId + id,
          prefix: strings.internString(prefix),
          group: keys.internString(keyGroup(key, prefix)),
          span,
          computation: computations.length - 1,
          thread: 0,
          submitted: computation.submitted,
          started,
          call: strings.internString(taskText(recording.task(id), isKey)),
        },
      );
    }
  }

  #addStays(
    metricName: string,
    runs: readonly CachedRun[],
    firstIds: ReadonlyMap<RunRecording, number>,
  ): void {
    const { strings, metrics } = this.#builder;
    const stays = runs.flatMap((run) => {
      const { recording } = run;
      const firstId = firstIds.get(recording) ?? 0;
      return heldResults(run).map(({ id, metric, cacheTime, freeTime }) => {
        const prefix = strings.internString(keySplit(recording.computation.keys[id]!));
        return { task: firstId + id, prefix, metric, cacheTime, freeTime };
      });
    });
    addCacheStays(metrics, strings, { metricName, stays });
  }
}

// The annotated task graph of a trace: the dependencies of each task, the size of its inputs, and its throughput.
import { reversedEdges } from '../base/groups.js';
import type { Trace } from '../trace/trace.js';
import { type KeyGraph, keyGraphOf } from './keyGraph.js';
import { Table } from './table.js';

/**
 * A table with one row per key, and the edges between keys. Rows are in the order of the file. Keys that occur only as
 * dependencies (scattered data, tasks that were not recorded) come last, with null for unknown values.
 */
export class AnnotatedTaskGraph extends Table {
  readonly #trace: Trace;
  readonly #graph: KeyGraph;
  #ids: Map<string, number> | undefined;
  #dependents: ReturnType<typeof reversedEdges> | undefined;

  constructor(trace: Trace, graph: KeyGraph, keys: Int32Array) {
    const { tasks, strings } = trace;
    const ofRun = (column: Int32Array): Int32Array =>
      keys.map((key) => (graph.lastRun[key]! < 0 ? -1 : column[graph.lastRun[key]!]!));
    const duration = Float64Array.from(keys, (key) => tasks.duration[graph.lastRun[key]!] ?? Number.NaN);
    const input = Float64Array.from(keys, (key) =>
      graph.lastRun[key]! < 0 || graph.inputUnknown[key] === 1 ? Number.NaN : graph.inputBytes[key]!,
    );
    super([
      { title: 'Task Key', ids: keys, strings: trace.keys },
      { title: 'name', ids: ofRun(tasks.functionName), strings },
      { title: 'size', numbers: Float64Array.from(keys, (key) => graph.nbytes[key]!) },
      { title: 'shape', ids: ofRun(tasks.shape), strings },
      { title: 'type', ids: ofRun(tasks.resultType), strings },
      { title: 'duration', numbers: duration },
      { title: 'input_data_size', numbers: input },
      {
        title: 'throughput',
        numbers: input.map((bytes, row) => (duration[row]! > 0 ? bytes / duration[row]! : Number.NaN)),
      },
    ]);
    this.#trace = trace;
    this.#graph = graph;
  }

  /** Returns the keys on which the task depends, without repetition; empty for a key that is not in the graph. */
  dependencies(key: string): string[] {
    const { offsets, predecessors } = this.#graph;
    return this.#neighbours(key, offsets, predecessors);
  }

  /** Returns the keys of the tasks that needed the result; empty for a key that is not in the graph. */
  dependents(key: string): string[] {
    this.#dependents ??= reversedEdges(this.#graph.offsets, this.#graph.predecessors);
    const { offsets, targets } = this.#dependents;
    return this.#neighbours(key, offsets, targets);
  }

  #neighbours(key: string, offsets: Int32Array, ids: Int32Array): string[] {
    const id = this.#idOf(key);
    if (id === undefined) return [];
    return Array.from(ids.subarray(offsets[id], offsets[id + 1]), (one) => this.#trace.keys.get(one));
  }

  #idOf(key: string): number | undefined {
    if (this.#ids === undefined) {
      const { keys } = this.#trace;
      keys.decodeAll();
      this.#ids = new Map();
      for (let id = 0; id < this.#graph.known.length; id++) {
        if (this.#graph.known[id] === 1) this.#ids.set(keys.get(id), id);
      }
    }
    return this.#ids.get(key);
  }
}

/**
 * Returns the annotated task graph. Sizes are in bytes, durations in seconds, and throughputs in bytes per second. A
 * key that ran more than once has the values of its last run. `input_data_size` is null if the size of an input is
 * unknown.
 *
 * @source DASF, `TraceAnalyser.create_annotated_task_graph`
 */
export function annotatedTaskGraph(trace: Trace): AnnotatedTaskGraph {
  const graph = keyGraphOf(trace);
  const keys: number[] = [];
  const listed = new Uint8Array(graph.known.length);
  const list = (key: number): void => {
    if (listed[key] === 1) return;
    listed[key] = 1;
    keys.push(key);
  };
  trace.tasks.key.forEach(list);
  for (let key = 0; key < graph.known.length; key++) if (graph.known[key] === 1) list(key);
  return new AnnotatedTaskGraph(trace, graph, Int32Array.from(keys));
}

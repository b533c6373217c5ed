// The graph behind a trace, annotated: which task needed which, how much data it was given, how fast it went through it.
import { pushTo } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';
import { type KeyGraph, keyGraphOf } from './keyGraph.js';
import { Table } from './table.js';

/**
 * A table with one row per key, and its edges. Keys come in the order in which they finished in the file; keys that are
 * only named by others (scattered data, tasks that were not recorded) come last, with null for what is not known.
 */
export class AnnotatedTaskGraph extends Table {
  readonly #trace: Trace;
  readonly #graph: KeyGraph;
  #ids: Map<string, number> | undefined;
  #dependents: Map<number, number[]> | undefined;

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

  /** Keys whose results the task needed, each once; none for a key that is not in the graph. */
  dependencies(key: string): string[] {
    const id = this.#idOf(key);
    if (id === undefined) return [];
    const { offsets, predecessors } = this.#graph;
    return Array.from(predecessors.subarray(offsets[id], offsets[id + 1]), (one) =>
      this.#trace.keys.get(one),
    );
  }

  /** Keys of the tasks that needed the result; none for a key that is not in the graph. */
  dependents(key: string): string[] {
    this.#dependents ??= successorsOf(this.#graph);
    const id = this.#idOf(key);
    return (this.#dependents.get(id ?? -1) ?? []).map((one) => this.#trace.keys.get(one));
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
 * Sizes in bytes, durations in seconds, throughput in bytes per second. A key that ran more than once shows its last run.
 * `input_data_size` is null where the size of an input is not known.
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

function successorsOf({ offsets, predecessors, known }: KeyGraph): Map<number, number[]> {
  const successors = new Map<number, number[]>();
  for (let key = 0; key < known.length; key++) {
    for (const predecessor of predecessors.subarray(offsets[key], offsets[key + 1])) {
      pushTo(successors, predecessor, key);
    }
  }
  return successors;
}

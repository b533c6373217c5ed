// Builds the graph of the keys of a trace, with the size of each result and of each task's inputs.
import { countedOffsets, groupedRows } from '../base/groups.js';
import { oncePer } from '../base/lookUps.js';
import type { Trace } from '../trace/trace.js';

/** Arrays indexed by id in `trace.keys`. Ids of other texts have no predecessors. */
export interface KeyGraph {
  /** 1 for every key that ran or that is part of an edge. */
  readonly known: Uint8Array;
  /** Bytes of the result of the last run; NaN for keys that never ran, e.g. scattered data. */
  readonly nbytes: Float64Array;
  /** Row of the last run, or -1. */
  readonly lastRun: Int32Array;
  /** Offsets of the keys on which key `k` depends, each once: `predecessors[offsets[k] .. offsets[k + 1])`. */
  readonly offsets: Int32Array;
  readonly predecessors: Int32Array;
  /** Bytes of all inputs. Inputs of unknown size count as 0. */
  readonly inputBytes: Float64Array;
  /** 1 for keys with an input of unknown size. */
  readonly inputUnknown: Uint8Array;
}

/** Returns the graph of a trace, made once. Cost: some walks over tasks and edges. */
export const keyGraphOf = oncePer((trace: Trace): KeyGraph => {
  const { tasks } = trace;
  const size = trace.keys.length;
  const known = new Uint8Array(size);
  const nbytes = new Float64Array(size).fill(Number.NaN);
  const lastRun = new Int32Array(size).fill(-1);
  const { key: keys, nbytes: sizes } = tasks;
  for (let row = 0; row < tasks.length; row++) {
    const key = keys[row]!;
    known[key] = 1;
    nbytes[key] = sizes[row]!;
    lastRun[key] = row;
  }
  for (const key of tasks.dependencies) known[key] = 1;
  for (const key of tasks.dependents) known[key] = 1;

  const edges = predecessorLists(trace, size);
  const inputBytes = new Float64Array(size);
  const inputUnknown = new Uint8Array(size);
  for (let key = 0; key < size; key++) {
    let sum = 0;
    for (let i = edges.offsets[key]!; i < edges.offsets[key + 1]!; i++) {
      const bytes = nbytes[edges.predecessors[i]!]!;
      if (Number.isNaN(bytes)) inputUnknown[key] = 1;
      else sum += bytes;
    }
    inputBytes[key] = sum;
  }
  return { known, nbytes, lastRun, ...edges, inputBytes, inputUnknown };
});

/** Merges the edges that dependents and dependencies record. Most edges are recorded by both tasks, and count once. */
function predecessorLists(trace: Trace, size: number): Pick<KeyGraph, 'offsets' | 'predecessors'> {
  const { tasks } = trace;
  const { key, dependencies, dependencyOffsets, dependents, dependentOffsets } = tasks;
  const from = dependencies.length;
  const sources = new Int32Array(from + dependents.length);
  const targets = new Int32Array(sources.length);
  sources.set(dependencies);
  targets.set(dependents, from);
  for (let row = 0; row < tasks.length; row++) {
    targets.fill(key[row]!, dependencyOffsets[row]!, dependencyOffsets[row + 1]!);
    sources.fill(key[row]!, from + dependentOffsets[row]!, from + dependentOffsets[row + 1]!);
  }
  const starts = countedOffsets(targets, size);
  const all = groupedRows(targets, starts);
  return withoutRepetitions(
    starts,
    all.map((edge) => sources[edge]!),
    size,
  );
}

function withoutRepetitions(
  starts: Int32Array,
  all: Int32Array,
  size: number,
): Pick<KeyGraph, 'offsets' | 'predecessors'> {
  const offsets = new Int32Array(size + 1);
  const seenBy = new Int32Array(size).fill(-1);
  let length = 0;
  for (let id = 0; id < size; id++) {
    for (let i = starts[id]!; i < starts[id + 1]!; i++) {
      const predecessor = all[i]!;
      if (seenBy[predecessor] === id) continue;
      seenBy[predecessor] = id;
      // The write position is never beyond the read position.
      all[length++] = predecessor;
    }
    offsets[id + 1] = length;
  }
  return { offsets, predecessors: all.subarray(0, length) };
}

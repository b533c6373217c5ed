// Tasks of Chrome traces: slices of threads, and flows between them. Rows are created at the end of the file, because
// names of processes and ends of flows may come late.

import { Float64Column, Int32Column } from '../../../base/columns.js';
import { sortedOrder } from '../../../base/sortedOrder.js';
import { TASK_MEMORY } from '../../../protocol/clusterObserver.js';
import { type TaskRow, type TraceBuilder, UNKNOWN_TASK } from '../../traceBuilder.js';
import { bindFlows, type FlowPoints, type SliceTimes } from './chromeFlows.js';
import type { ChromeOrigins } from './chromeOrigins.js';

export class ChromeSlices {
  readonly flows: FlowPoints = {
    time: new Float64Column(),
    lane: new Int32Column(),
    flow: new Int32Column(),
    phase: new Int32Column(),
  };
  readonly #name = new Int32Column();
  readonly #key = new Int32Column();
  readonly #lane = new Int32Column();
  readonly #start = new Float64Column();
  readonly #duration = new Float64Column();
  /** States other than that of a task with a result, by slice. */
  readonly #states = new Map<number, number>();
  /** Prefixes other than the name, by slice. */
  readonly #prefixes = new Map<number, number>();

  get length(): number {
    return this.#name.length;
  }

  /**
   * Adds a slice; times are seconds. `key` is -1 if the event has none. `lane` is inverted (`~lane`) for an async
   * slice, which has a thread but is not on its stack.
   */
  add(name: number, key: number, lane: number, start: number, duration: number): void {
    this.#name.push(name);
    this.#key.push(key);
    this.#lane.push(lane);
    this.#start.push(start);
    this.#duration.push(duration);
  }

  /** Describes the task of the last slice. `state` is an index of TASK_STATES, and `prefix` is -1 if it is the name. */
  describe(state: number, prefix: number): void {
    const last = this.length - 1;
    if (state !== TASK_MEMORY) this.#states.set(last, state);
    if (prefix >= 0) this.#prefixes.set(last, prefix);
  }

  /**
   * Adds a task for every slice in the order of their ends, so that the source of a flow precedes its target. A slice
   * without a key gets a unique one, `('name', 12)`, because every slice is a separate run.
   */
  finish(builder: TraceBuilder, origins: ChromeOrigins): void {
    const slices: SliceTimes = {
      length: this.length,
      lane: this.#lane.take(),
      start: this.#start.take(),
      duration: this.#duration.take(),
    };
    const edges = bindFlows(slices, this.flows);
    const keys = this.#keys(builder);
    const stops = Float64Array.from(slices.start, (start, row) => start + slices.duration[row]!);
    const names = this.#name.take();
    const task: TaskRow = { ...UNKNOWN_TASK };
    for (const row of sortedOrder(stops, false)) {
      const lane = slices.lane[row]! < 0 ? ~slices.lane[row]! : slices.lane[row]!;
      const process = origins.processOf(lane);
      origins.workerOf(process);
      for (let edge = edges.offsets[row]!; edge < edges.offsets[row + 1]!; edge++) {
        builder.dependencies.push(keys[edges.sources[edge]!]!);
      }
      task.key = keys[row]!;
      task.recordedName = names[row]!;
      task.worker = process.name;
      task.stop = stops[row]!;
      task.duration = slices.duration[row]!;
      builder.addTask(task, {
        functionName: names[row]!,
        // Async slices may be inside of each other, or of other slices, without being a part of them.
        thread: slices.lane[row]! < 0 ? -1 : origins.threadOf(lane),
        started: slices.start[row]!,
        ...(this.#states.size === 0 ? {} : { state: this.#states.get(row) ?? TASK_MEMORY }),
        ...(this.#prefixes.size === 0 ? {} : { prefix: this.#prefixes.get(row) ?? names[row]! }),
      });
    }
  }

  #keys({ strings }: TraceBuilder): Int32Array {
    const names = this.#name.take();
    return this.#key
      .take()
      .map((key, row) => (key < 0 ? strings.internString(`('${strings.get(names[row]!)}', ${row})`) : key));
  }
}

// A Trace of the rows that a live trace holds. Columns are views of chunks, or are joined from chunks on first use.

import { addLazy, once, recordOf } from '../../base/lookUps.js';
import type { ClusterEvent, Transfer } from '../../protocol/clusterObserver.js';
import {
  GROWING_TABLES,
  type RecordedTable,
  type Reported,
  type TableRows,
} from '../../protocol/traceSchema.js';
import type { SampleWindow } from '../samples/sampleWindow.js';
import type { StringTable } from '../stringTable.js';
import type { ResourceBuilder, WorkerBuilder } from '../tableBuilders.js';
import { joinRows, type RowPiece, TableBuilder } from '../tableRows.js';
import type { TotalSums } from '../totals.js';
import { printable, type ResourceRows, type TableName, type Trace, withHosts } from '../trace.js';
import type { LiveComputations } from './liveComputations.js';
import { LiveTaskColumns } from './liveTasks.js';
import { Joined, type Piece, type RowWindow } from './rowWindow.js';
import type { TaskWindow } from './taskWindow.js';

type BuiltWindow<T extends RecordedTable> = RowWindow<TableBuilder<T>>;

/**
 * The newest rows of each table. Transfers and events keep their texts as strings, because those texts would fill the
 * table of names.
 */
interface LiveWindows {
  readonly tasks: TaskWindow;
  readonly intervals: BuiltWindow<'intervals'>;
  readonly transfers: RowWindow<Transfer[]>;
  readonly memory: BuiltWindow<'memory'>;
  readonly resources: RowWindow<ResourceBuilder>;
  readonly metrics: BuiltWindow<'metrics'>;
  readonly samples: SampleWindow;
  readonly events: RowWindow<ClusterEvent[]>;
}

/** State of a live trace that snapshots read. */
export interface LiveRows {
  /** Names of functions, workers and the like; keys and long texts are not interned. */
  readonly names: StringTable;
  /** Ids of the names of result types, by their numbers in chunks. */
  readonly typeIds: () => Int32Array;
  readonly computations: LiveComputations;
  readonly workers: WorkerBuilder;
  readonly totals: TotalSums;
  readonly windows: LiveWindows;
}

/** Returns the rows `[from .. to)` of each table, counted since the beginning, as a trace. */
export function snapshotOf(
  rows: LiveRows,
  from: Readonly<Record<TableName, number>>,
  to: Readonly<Record<TableName, number>>,
): Trace {
  const { windows } = rows;
  // Before the copy of the names, because the sums of older samples add names.
  const samples = windows.samples.rows(from.samples, to.samples);
  const frames = windows.samples.frames.build();
  const strings = rows.names.copy();
  const workers = rows.workers.build();
  const moved = windows.transfers.pieces(from.transfers, to.transfers);
  const transfers = once(() => rowsOf(moved));
  const tasks = new LiveTaskColumns({
    pieces: windows.tasks.pieces(from.tasks, to.tasks),
    typeIds: rows.typeIds().slice(),
    computations: rows.computations.all.slice(),
    workers,
    strings,
    otherKeys: () => transfers().flatMap(({ keys }) => keys),
  });
  const events = reportedRows('events', rowsOf(windows.events.pieces(from.events, to.events)), strings);
  const intervals = windows.intervals.pieces(from.intervals, to.intervals);
  const memory = windows.memory.pieces(from.memory, to.memory);
  const metrics = windows.metrics.pieces(from.metrics, to.metrics);
  const resources = windows.resources.pieces(from.resources, to.resources);
  // Copied now, because the sums grow.
  const totals = rows.totals.copy(workers.length);
  const trace = {
    strings,
    workers,
    tasks: tasks.rows,
    frames,
    events,
    totals,
    evicted: recordOf(GROWING_TABLES, (table) => (table === 'samples' ? 0 : windows[table].first)),
    eventCount: GROWING_TABLES.reduce((sum, table) => sum + windows[table].end, 0),
    damage: undefined,
  };
  addLazy(trace, {
    computations: () => tasks.computations(),
    keys: () => tasks.keys,
    intervals: () => joinRows('intervals', builtPieces(intervals)),
    transfers: () => reportedRows('transfers', transfers(), strings, tasks.keys),
    memory: () => withHosts('memory', joinRows('memory', builtPieces(memory)), workers),
    resources: () => withHosts('resources', resourceRows(resources), workers),
    metrics: () => joinRows('metrics', builtPieces(metrics)),
    samples,
  });
  return printable(trace);
}

export function rowsOf<T>(pieces: readonly Piece<readonly T[]>[]): T[] {
  return pieces.flatMap(({ chunk, from, to }) => chunk.slice(from, to));
}

function builtPieces<T extends RecordedTable>(pieces: readonly Piece<TableBuilder<T>>[]): RowPiece<T>[] {
  return pieces.map(({ chunk, from, to }) => ({ rows: chunk.build(), from, to }));
}

function reportedRows<T extends RecordedTable>(
  table: T,
  rows: readonly Reported<T>[],
  strings: StringTable,
  keys: StringTable = strings,
): TableRows<T> {
  const builder = new TableBuilder(table);
  for (const row of rows) builder.add(row, strings, keys);
  return builder.build();
}

function resourceRows(pieces: readonly Piece<ResourceBuilder>[]): ResourceRows {
  const built = new Map(pieces.map(({ chunk }) => [chunk, chunk.build()]));
  const part = (chunk: ResourceBuilder): ResourceRows => built.get(chunk) ?? chunk.build();
  const joined = new Joined(pieces);
  const names = new Set(Array.from(built.values(), ({ figures }) => [...figures.keys()]).flat());
  const figure = (name: string): Float64Array =>
    joined.numbers((chunk) => {
      const { figures, length } = part(chunk);
      return figures.get(name) ?? new Float64Array(length).fill(Number.NaN);
    });
  const rows = pieces.map(({ chunk, from, to }) => ({ rows: part(chunk), from, to }));
  return {
    ...joinRows('resources', rows),
    figures: new Map(Array.from(names, (name) => [name, figure(name)])),
  };
}

// Rows of the bridge to Dask from what msgpack makes of them: every cell is checked, since another version of the bridge, or a
// damaged pipe, may say anything.
import { Cells, damagedRow } from './daskCells.js';
import {
  type BatchRow,
  type BeatRow,
  type DaskRow,
  type EndedRow,
  type GraphRow,
  LEFT_REASONS,
  REFUSALS,
  type TreeNode,
  type WorkerRow,
} from './daskRows.js';

/**
 * A row as it came, checked. What names something that only the reader can know, e.g. a task, is not.
 *
 * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE if it is no row
 */
export function parseDaskRow(value: unknown): DaskRow {
  const cells = new Cells(value);
  const type = cells.text();
  switch (type) {
    case 'hello': {
      const [protocol, time, bootId] = [cells.count(), cells.number(), cells.text()];
      return { type, protocol, time, bootId, facts: Object.fromEntries(cells.textMap()) };
    }
    case 'worker':
      return worker(cells);
    case 'worker-gone':
      return { type, index: cells.count(), time: cells.number(), reason: cells.text() };
    case 'span':
      return { type, id: cells.text(), tags: cells.texts() };
    case 'graph':
      return graph(cells);
    case 'ready':
      return { type, id: cells.count(), time: cells.number() };
    case 'sent':
      return { type, id: cells.count(), time: cells.perhaps(), worker: cells.index() };
    case 'ended':
      return ended(cells);
    case 'left':
      return { type, id: cells.count(), time: cells.number(), why: cells.oneOf(LEFT_REASONS) };
    case 'forgotten':
      return { type, ids: Float64Array.from(cells.counts()) };
    case 'beat':
      return beat(cells);
    case 'status': {
      const [time, states] = [cells.number(), cells.numberMap()];
      const workers = cells.rows((row) => ({
        index: row.count(),
        status: row.text(),
        processing: row.count(),
        occupancy: row.number(),
      }));
      return { type, time, states, workers };
    }
    case 'machine':
      return {
        type,
        time: cells.number(),
        cores: cells.count(),
        busy: cells.number(),
        used: cells.number(),
        workers: cells.number(),
      };
    case 'event':
      return { type, time: cells.number(), worker: cells.index(), topic: cells.text(), text: cells.text() };
    case 'batch':
      return batch(cells);
    case 'warning':
      return { type, text: cells.text() };
    case 'refused':
      return { type, code: cells.oneOf(REFUSALS), text: cells.text() };
    case 'closed':
      return { type, reason: cells.text() };
    default:
      return damagedRow(`there are no rows '${type.slice(0, 40)}'`);
  }
}

function worker(cells: Cells): WorkerRow {
  return {
    type: 'worker',
    index: cells.count(),
    address: cells.text(),
    name: cells.text(),
    host: cells.text(),
    pid: cells.count(),
    threads: cells.count(),
    memoryLimit: cells.number(),
    time: cells.number(),
  };
}

function graph(cells: Cells): GraphRow {
  const submitted = cells.perhaps();
  const [client, code, firstId, keys] = [cells.text(), cells.text(), cells.count(), cells.texts()];
  const [prefixes, prefixOf] = [cells.texts(), Int32Array.from(cells.counts())];
  const [functions, functionOf] = [cells.texts(), Int32Array.from(cells.counts())];
  const [spans, spanOf] = [cells.texts(), Int32Array.from(cells.counts())];
  const dependencyCounts = Int32Array.from(cells.counts());
  const dependencies = Float64Array.from(cells.counts());
  const given = Int32Array.from(cells.counts());
  const within = (places: Int32Array, length: number): boolean =>
    places.every((place) => place >= 0 && place < length);
  for (const column of [prefixOf, functionOf, spanOf, dependencyCounts])
    if (column.length !== keys.length) damagedRow('a column of a graph is not as long as its keys');
  if (!within(prefixOf, prefixes.length) || !within(functionOf, functions.length))
    damagedRow('a graph names a text that it does not have');
  if (!within(spanOf, spans.length)) damagedRow('a graph names a span that it does not have');
  if (!within(given, keys.length)) damagedRow('a graph names a task that it does not have');
  const edges = dependencyCounts.reduce((sum, count) => sum + Math.max(0, count), 0);
  if (edges !== dependencies.length) damagedRow('a graph has more or fewer dependencies than its tasks');
  return {
    type: 'graph',
    submitted,
    client,
    code,
    firstId,
    keys,
    prefixes,
    prefixOf,
    functions,
    functionOf,
    spans,
    spanOf,
    dependencyCounts,
    dependencies,
    given,
  };
}

function ended(cells: Cells): EndedRow {
  return {
    type: 'ended',
    id: cells.count(),
    time: cells.number(),
    erred: cells.count() === 1,
    worker: cells.index(),
    thread: cells.number(),
    nbytes: cells.number(),
    resultType: cells.text(),
    startstops: cells.rows((row) => ({ action: row.text(), start: row.number(), stop: row.number() })),
    times: cells.row((row) => ({
      received: row.perhaps(),
      delay: row.number(),
      transfers: row.rows((one) => ({ nbytes: one.number(), delay: one.number() })),
    })),
  };
}

function beat(cells: Cells): BeatRow {
  return {
    type: 'beat',
    worker: cells.count(),
    time: cells.number(),
    cpu: cells.number(),
    tick: cells.number(),
    figures: cells.numberMap(),
    process: cells.number(),
    managed: cells.number(),
    spilled: cells.number(),
    tasks: cells.count(),
  };
}

const DIRECTIONS = ['incoming', 'outgoing'] as const;

function batch(cells: Cells): BatchRow {
  const [address, time, delay, bootId] = [cells.text(), cells.number(), cells.number(), cells.text()];
  const sampling = cells.row((row) => ({ interval: row.number(), cycle: row.number() }));
  return {
    type: 'batch',
    address,
    time,
    delay,
    bootId,
    sampling: sampling ?? damagedRow('a batch does not say how it was sampled'),
    moved: cells.rows((row) => ({
      direction: row.oneOf(DIRECTIONS),
      peer: row.text(),
      start: row.number(),
      stop: row.number(),
      nbytes: row.number(),
      compressed: row.perhaps(),
      keys: row.texts(),
    })),
    metrics: cells.rows((row) => ({
      context: row.text(),
      span: row.text(),
      prefix: row.text(),
      activity: row.text(),
      unit: row.text(),
      value: row.number(),
    })),
    running: cells.rows((row) => ({ key: row.text(), started: row.number() })),
    profiles: cells.rows((row) => ({
      time: row.number(),
      prefix: row.text(),
      nodes: treeNodes(row),
    })),
    logs: cells.rows((row) => ({ time: row.number(), level: row.text(), text: row.text() })),
  };
}

function treeNodes(cells: Cells): TreeNode[] {
  const nodes = cells.rows((row) => ({
    parent: row.index(),
    count: row.count(),
    functionName: row.text(),
    file: row.text(),
    line: row.count(),
  }));
  if (nodes.some(({ parent }, place) => parent >= place))
    damagedRow('a node of a call tree comes before its caller');
  return nodes;
}

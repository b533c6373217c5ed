// Computes which workers without work took tasks of which other workers.
import { getOrMake } from '../base/lookUps.js';
import { parseStealing, STEALING } from '../protocol/eventTopics.js';
import { StringTable } from '../trace/stringTable.js';
import { eventsOf, type Trace, textOf } from '../trace/trace.js';
import { rowColumns, Table } from './table.js';

/** Returns one row per pair of workers, the most tasks first. */
export function stolenWork(trace: Trace): Table {
  const { strings, workers } = trace;
  const names = new StringTable();
  const pairs = new Map<
    string,
    { from: number; to: number; steals: number; tasks: number; seconds: number }
  >();
  for (const { worker, text } of eventsOf(trace, STEALING)) {
    const stolen = parseStealing(text);
    if (stolen === undefined) continue;
    const from = names.internString(textOf(strings, workers.name[worker]));
    const to = names.internString(stolen.thief ?? '(scheduler)');
    const sum = getOrMake(pairs, `${from} ${to}`, () => ({ from, to, steals: 0, tasks: 0, seconds: 0 }));
    sum.steals++;
    sum.tasks += stolen.tasks;
    sum.seconds += stolen.seconds;
  }
  const rows = [...pairs.values()].sort((a, b) => b.tasks - a.tasks);
  const { numbers } = rowColumns(rows);
  return new Table([
    { title: 'From', ids: Int32Array.from(rows, ({ from }) => from), strings: names },
    { title: 'To', ids: Int32Array.from(rows, ({ to }) => to), strings: names },
    numbers('Steals', ({ steals }) => steals),
    numbers('Tasks', ({ tasks }) => tasks),
    numbers('Expected (s)', ({ seconds }) => seconds),
  ]);
}

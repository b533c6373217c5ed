// Prints the users with the most bytes in log files: node logs.js FOLDER threads|processes|cluster|worker-processes
import { connect, type Delayed } from 'longpole';
import { getMultiprocessing, getThreaded } from 'longpole/local';
import { logFiles } from './logFiles.js';
import type { Groups } from './logSteps.js';
import { group, join, merge, parse, top } from './logTasks.js';
import { COUNT, printTop } from './printTop.js';

/** Number of groups that one task merges. */
const FAN_IN = 8;
const WORKERS = 2;

function mergeAll(parts: readonly Delayed<Groups>[]): Delayed<Groups> {
  const [first] = parts;
  if (first === undefined) throw new RangeError('There are no log files.');
  if (parts.length === 1) return first;
  const merged: Delayed<Groups>[] = [];
  for (let start = 0; start < parts.length; start += FAN_IN)
    merged.push(merge(parts.slice(start, start + FAN_IN)));
  return mergeAll(merged);
}

const [folder = '', kind = 'threads'] = process.argv.slice(2);
const { logs, users } = logFiles(folder);
const rows = top(join(mergeAll(logs.map((file) => group(parse(file)))), users), COUNT);
if (kind === 'threads' || kind === 'processes') {
  const get = kind === 'threads' ? getThreaded : getMultiprocessing;
  printTop(await rows.compute({ get, numWorkers: WORKERS }));
} else {
  await using client = await connect({ workers: WORKERS, processes: kind === 'worker-processes' });
  printTop(await client.compute(rows));
}

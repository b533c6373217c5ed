// Compares the `compat: 'dasf'` tables of a trace with those that DASF wrote, cell by cell.
//
//   node scripts/checkDasfTables.mjs FOLDER
//
// FOLDER holds ResourceMonitor-*.msgpack, TracePlugin-*.msgpack and the CSV files of DASF's analyses. Such large
// traces are not part of the repository. Without the folder the script says so and succeeds; `npm test` checks a
// smaller trace.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TraceAnalyser } from '../dist/bundle/analysis.js';
import { EventProfiler, MultiEventDatabase } from '../dist/bundle/trace.js';

const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  console.log(
    `Nothing was checked: ${folder === undefined ? 'no folder was given' : `there is no ${folder}`}.`,
  );
  process.exit();
}
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.msgpack'))
  .sort();
const database = new MultiEventDatabase(files.map((name) => new EventProfiler(join(folder, name))));
const analyser = new TraceAnalyser(database, { compat: 'dasf' });
for (const [name, table] of [
  ['function_bottleneck', analyser.perFunctionBottleneck()],
  ['task_bottleneck', analyser.perTaskBottleneck()],
  ['task_balance', analyser.perWorkerTaskBalance()],
]) {
  const expected = readFileSync(join(folder, `${name}.csv`), 'utf8')
    .trimEnd()
    .split('\n');
  const lines = table.toCSV().trimEnd().split('\n');
  const missing = new Set(expected);
  for (const line of lines) missing.delete(line);
  const same = missing.size === 0 && lines.length === expected.length && lines[0] === expected[0];
  console.log(`${same ? 'same' : 'NOT the same'}: ${name}, ${expected.length - 1} rows`);
  for (const line of [...missing].slice(0, 5)) console.log(`  DASF has ${line}`);
  if (!same) process.exitCode = 1;
}

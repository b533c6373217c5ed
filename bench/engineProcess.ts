// The process of one JavaScript engine: `node engineProcess.js ENGINE`. It prints `ready`. Then it answers each line
// `TASKS` on stdin with one line of JSON, a Measurement. bench/peers/dask_bench.py uses the same protocol.
import { createInterface } from 'node:readline';
import { OWN_ENGINES } from './ownEngines.js';
import { POOL_ENGINES } from './peers/poolEngines.js';

const name = process.argv[2] ?? '';
const factory = { ...OWN_ENGINES, ...POOL_ENGINES }[name];
if (factory === undefined) throw new RangeError(`There is no engine ${name}.`);
const engine = await factory();
process.stdout.write('ready\n');
for await (const line of createInterface(process.stdin)) {
  const measurement = await engine.run(Number(line));
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}
process.exit();

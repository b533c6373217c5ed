// Measures `map` of 20,000 and `gather` six times in one new process: node firstMap.js [threads|processes]. Prints the
// microseconds of wall and of CPU per task of each round. The CPU of worker processes does not count.
import { connect } from 'longpole';
import { inc } from '../clusterBodies.js';

const TASKS = 20_000;
const ROUNDS = 6;

const client = await connect({ workers: 2, processes: process.argv[2] === 'processes' });
const costs: { readonly wall: number; readonly cpu: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const futures = client.map(
    inc,
    Array.from({ length: TASKS }, (_, index) => index),
  );
  const results = await client.gather(futures);
  const wall = ((performance.now() - start) * 1000) / TASKS;
  const { user, system } = process.cpuUsage(cpu);
  if (results.at(-1) !== TASKS) throw new Error(`The last result is ${results.at(-1)}, not ${TASKS}.`);
  costs.push({ wall, cpu: (user + system) / TASKS });
  for (const future of futures) future.release();
}
await client.close();
for (const [round, { wall, cpu }] of costs.entries())
  console.log(`${round + 1}: wall ${wall.toFixed(1)} µs, CPU ${cpu.toFixed(1)} µs`);
const [first, last] = [costs[0], costs.at(-1)];
if (first !== undefined && last !== undefined)
  console.log(
    `first to last: wall ${(first.wall / last.wall).toFixed(1)}, CPU ${(first.cpu / last.cpu).toFixed(1)}`,
  );

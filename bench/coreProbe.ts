// For bench/coreSpeed.ts, on one core: ten times a second how long a little work takes there, a line each of seconds since
// the epoch and milliseconds. The work lies in the first-level cache and keeps the core's arithmetic units full, so it takes
// 1.6 times as long while the other hyperthread of the core is busy, which no counter of a virtual machine tells.
const INTERVAL_MS = 100;
/** The first after a sleep are slow, so the shortest counts. Together 0.7 ms of 100. */
const CHUNKS = 4;
const ROUNDS = 300;
const LENGTH = 512;
const data = Float64Array.from({ length: LENGTH }, (_, i) => 1 + i / LENGTH);

function work(): number {
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < LENGTH - 4; i++) {
      const x = data[i]!;
      sum0 += x * data[i + 1]!;
      sum1 += x * data[i + 2]!;
      sum2 += x * data[i + 3]!;
      sum3 += x * data[i + 4]!;
    }
  }
  return sum0 + sum1 + sum2 + sum3;
}

let kept = 0;
function timed(): number {
  const start = performance.now();
  kept += work();
  return performance.now() - start;
}

for (let warm = 0; warm < 200; warm++) timed();
setInterval(() => {
  const time = Date.now() / 1000;
  const ms = Math.min(...Array.from({ length: CHUNKS }, timed));
  if (Number.isFinite(kept)) process.stdout.write(`${time} ${ms}\n`);
}, INTERVAL_MS);
process.stdin.on('end', () => process.exit());
process.stdin.resume();

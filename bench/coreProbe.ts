// A probe of one core for bench/coreSpeed.ts. Ten times a second it measures a small amount of work and prints a line:
// seconds since the epoch, and milliseconds. The work fits into the first-level cache and fills the arithmetic units.
// So it takes 1.6 times as long while the other hyperthread is busy. No counter of a virtual machine shows that.
const INTERVAL_MS = 100;
/**
 * Pieces of work per probe, 0.7 ms of 100 together. The shortest counts, because the first ones after a sleep are slow.
 */
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

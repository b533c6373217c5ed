// A program that computes on a cluster. The commands of the documentation run it and read the trace of it.
import { connect, tasks } from 'longpole';

const { load, simulate, fit, combine } = tasks(import.meta.url, {
  load: (seed) => Float64Array.from({ length: 20_000 }, (_, i) => Math.sin(seed + i)),
  simulate(values) {
    let sum = 0;
    for (let round = 0; round < 40; round++) for (const value of values) sum += Math.cos(value * round);
    return sum;
  },
  fit: (sum) => sum / 20_000,
  combine(sums) {
    const end = performance.now() + 100;
    while (performance.now() < end);
    return sums.reduce((a, b) => a + b, 0);
  },
});

const client = await connect({ workers: 2 });
const parts = Array.from({ length: 6 }, (_, seed) => fit(simulate(load(seed))));
await client.compute(combine(parts));
await client.close();

// A cluster that has measured: tasks that read, compute, and move their results between two workers.
import { connect, contextMeter, tasks } from 'longpole';

const { load, join } = tasks(import.meta.url, {
  load(seed: number) {
    using _ = contextMeter.meter('I/O');
    return new Float64Array(100_000).fill(seed);
  },
  join: (parts: readonly Float64Array[]) => parts.length,
});

export const client = await connect({ workers: 2, processes: true });
await client.compute(join(Array.from({ length: 8 }, (_, seed) => load(seed))));

/** Workers report metrics with their heartbeats. */
const isReported = () =>
  client.runOnScheduler(({ scheduler }) =>
    [...scheduler.cumulativeWorkerMetrics].some(([key]) => key[0] === 'gather-dep' && key[2] === 'bytes'),
  );
while (!(await isReported())) await new Promise((done) => setTimeout(done, 50));

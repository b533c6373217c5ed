// A cluster that has measured: tasks that read, compute, and move their results between two workers.
import { annotate, connect, contextMeter, tasks } from 'longpole';

const { load, join } = tasks(import.meta.url, {
  load(seed: number) {
    using _ = contextMeter.meter('I/O');
    return new Float64Array(100_000).fill(seed);
  },
  join: (parts: readonly Float64Array[]) => parts.length,
});

/** What the page shows. */
const SHOWN = ['execute,load,I/O,seconds', 'execute,load,thread-cpu,seconds', 'gather-dep,network,bytes'];

export const client = await connect({ workers: 2, processes: true });
// Each worker has half of the parts, so that some of them move.
const parts = client.cluster.workers.flatMap((workers) =>
  annotate({ workers }, () => [1, 2, 3, 4].map((seed) => load(seed))),
);
await client.compute(join(parts));

/** Workers report metrics with their heartbeats. */
const isReported = () =>
  client.runOnScheduler(({ scheduler }) => {
    const keys = Array.from(scheduler.cumulativeWorkerMetrics, ([key]) => key.join());
    return SHOWN.every((key) => keys.includes(key));
  });
while (!(await isReported())) await new Promise((done) => setTimeout(done, 50));

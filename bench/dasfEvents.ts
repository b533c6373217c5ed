// Creates event files of any size in the form of DASF's recordings. Most events come in pairs, a task and the results
// that its worker then holds, from four workers that write in batches. The host is sampled ten times a second.
import { join } from 'node:path';
import { CompleteEvent, FileDatabase, InstantEvent } from 'longpole/trace';

const WORKERS = 4;
/** Tasks of a worker between two commits, which are a batch of 1000 events. */
const BATCH = 500;
/** Seconds of a task. */
const SECONDS = 0.002;
const HOST = 'c096';
const FUNCTIONS = [
  'getitem',
  'subtract',
  'var-partial',
  'mean_chunk',
  'pow',
  'sum-partial',
  'where',
  '_gaussian',
];

/** Writes `ResourceMonitor-c096.msgpack` and `TracePlugin-c096.msgpack` into `folder`. */
export function writeEvents(folder: string, events: number): void {
  const tasks = Math.floor(events / 2);
  const traces = new FileDatabase(join(folder, `TracePlugin-${HOST}.msgpack`), { flush: false });
  for (let begin = 0; begin < tasks; begin += BATCH * WORKERS) {
    for (let worker = 0; worker < WORKERS; worker++) {
      for (let i = begin + worker; i < Math.min(tasks, begin + BATCH * WORKERS); i += WORKERS)
        record(traces, i, worker);
    }
  }
  traces.close();
  const samples = new FileDatabase(join(folder, `ResourceMonitor-${HOST}.msgpack`), { flush: false });
  for (let time = 0; time < (tasks / WORKERS) * SECONDS; time += 0.1) {
    const args = {
      cpu: 50.5,
      memory: 2.7e9,
      num_fds: 189,
      gpu_utilization: Math.round(time) % 100,
      gpu_memory_used: 3158966272,
    };
    samples.record(new InstantEvent('Resource Usage', time, { processId: HOST, threadId: null, args }));
  }
  samples.close();
}

function record(database: FileDatabase, task: number, worker: number): void {
  const stop = (Math.floor(task / WORKERS) + 1) * SECONDS;
  const key = keyOf(task);
  const dependencies =
    task < WORKERS
      ? []
      : [keyOf(task - WORKERS), keyOf(task - (task % WORKERS))].filter((one) => one !== key);
  const from = { processId: HOST, threadId: `worker-${HOST}-${worker}` };
  const args = {
    key,
    name: FUNCTIONS[task % FUNCTIONS.length],
    state: 'memory',
    size: 40_000,
    shape: [5000, 2],
    dtype: 'float32',
    type: "<class 'cupy._core.core.ndarray'>",
    dependencies,
    dependents: [keyOf(task + WORKERS)],
  };
  database.record(new CompleteEvent('Compute', stop, SECONDS * (0.5 + (task % 7) / 14), { ...from, args }));
  const held = { key, state: 'memory', size: 400_000, tasks: 10 + (task % 20) };
  database.record(new InstantEvent('Managed Memory', stop, { ...from, args: held }));
}

function keyOf(task: number): string {
  const token = Math.imul(task >>> 10, 0x9e3779b1)
    .toString(16)
    .replace('-', '')
    .padStart(8, '0')
    .repeat(4);
  return `('${FUNCTIONS[task % FUNCTIONS.length]}-${token}', ${task & 1023}, 0)`;
}

// Compiled, never run. Uses every name of the public API with the documented forms of its arguments.
import {
  type CallTree,
  type Client,
  compute,
  config,
  connect,
  contextMeter,
  type Delayed,
  delayed,
  type Future,
  type Graph,
  KilledWorkerError,
  key,
  keySplit,
  LocalCluster,
  LongpoleError,
  MemorySampler,
  performanceReport,
  type SchedulerPlugin,
  span,
  TaskError,
  type TaskFunction,
  type Trace,
  tasks,
  type WorkerPlugin,
} from 'longpole';
import {
  criticalPath,
  diff,
  findings,
  Pipeline,
  registerDefaultProfiler,
  simulate,
  type Table,
  TraceAnalyser,
} from 'longpole/analysis';
import {
  CacheProfiler,
  Callback,
  Profiler,
  ProgressBar,
  processProf,
  ResourceProfiler,
  threadProf,
  visualize,
  withCallbacks,
} from 'longpole/diagnostics';
import { getMultiprocessing, getSync, getThreaded } from 'longpole/local';
import { EventProfiler, FileDatabase, MultiEventDatabase, openTrace } from 'longpole/trace';

const t = tasks(import.meta.url, {
  load(path: string) {
    return path.length;
  },
  async fetch(url: string) {
    return url;
  },
  add(a: number, b: number) {
    return a + b;
  },
});
const d: Delayed<number> = t.add(1, t.load('x'));
const n: number = await d.compute();
const f0: Future<number> = d.persist({ priority: 1 });
const g: Graph = d.toGraph();
const [a, b] = await compute(d, t.fetch('u'), { numWorkers: 2, priority: 1 });
const aa: number = a;
const bb: string = b;
const k: string = key('x', 0, 1);
const p: string = keySplit(k);
const cluster = await LocalCluster.start({
  workers: 2,
  processes: false,
  memoryLimit: '1GB',
  dashboard: { host: '127.0.0.1', port: 0, token: 'x' },
  localDirectory: '/tmp',
  profile: { interval: 0.01, cycleInterval: 1 },
  lifetime: 100,
});
const c: Client = await connect(cluster);
const ctl = new AbortController();
const f: Future<number> = c.submit(t.add, 1, 2, {
  signal: ctl.signal,
  priority: 1,
  retries: 2,
  workers: ['a'],
  key: 'k',
  pure: true,
  resources: { GPU: 1 },
});
const m: Future<number>[] = c.map((x: number) => x + 1, [1, 2]);
// @ts-expect-error the function takes numbers
c.map(t.add, ['x'], [1]);
const gm: number[] = await c.gather(m);
const mixed: [number, string] = await c.compute([delayed(() => 1)(), delayed(() => 'x')()]);
const kept: [Future<number>, Future<string>] = c.persist([delayed(() => 1)(), delayed(() => 'x')()]);
const got: number = await c.get<number>({ a: 1 }, 'a');
// @ts-expect-error a skipped result is undefined
const _skipped: number[] = await c.gather(m, { errors: 'skip' });
const s1: Future<number> = await c.scatter(5);
const s2: Future<number>[] = await c.scatter([1, 2], { broadcast: true });
c.cancel(m);
c.cancel(f);
const r = await c.run(({ worker }) => worker.outgoingTransferLog, { workers: ['a'] });
const r2: Record<string, unknown> = await c.run(({ worker }) => worker.digestsTotal);
await c.runOnScheduler(({ scheduler }) => {
  const out: number[] = [];
  for (const [kk, v] of scheduler.cumulativeWorkerMetrics) {
    out.push(v);
    const s: string | undefined = kk[0];
    void s;
  }
  return out;
});
const tree: CallTree = await c.profile({
  key: 'x',
  start: 0,
  stop: 1,
  workers: ['a'],
  scheduler: false,
  filename: 'x.html',
});
const ts = await c.getTaskStream({ start: 0, stop: 1, filename: 'x.html' });
const plugin: SchedulerPlugin = {
  start() {},
  addWorker() {},
  removeWorker() {},
  transition(key, start, finish, info) {
    void [key, start, finish, info];
  },
  close() {},
};
await c.registerPlugin(plugin);
const wp: WorkerPlugin = {
  setup({ worker }) {
    void worker;
  },
  teardown() {},
  transition(key, start, finish, { worker }) {
    void [key, start, finish, worker];
  },
};
await c.registerPlugin({ url: import.meta.url, export: 'X', options: {} });
const info = c.schedulerInfo();
void info;
const tr: Trace = c.trace;
const stop = c.record('/tmp/x.trace');
await stop();
const link: string | undefined = c.dashboardLink;
const st: 'pending' | 'finished' | 'error' | 'cancelled' | 'lost' = f.status;
f.release();
f.cancel();
const ex: unknown = await f.exception();
{
  using s = span('load');
  void s;
}
const six: number = span('load', () => 6);
{
  using mm = contextMeter.meter('I/O');
  void mm;
}
const wrapped: (x: number) => number = contextMeter.meter('I/O', (x: number) => x);
contextMeter.digestMetric('S3', 1, 'bytes');
class X {
  @contextMeter.meter('I/O') foo(x: number) {
    return x;
  }
}
void new X().foo(1);
{
  await using report = performanceReport({ filename: 'x.html', client: c });
  void report;
}
const res: number = await performanceReport({ filename: 'x.html' }, async () => 5);
const ms = new MemorySampler();
{
  await using _ = ms.sample('collection 1', { measure: 'managed', interval: 0.1, client: c });
}
{
  await using _ = ms.sample();
}
ms.toTable({ align: true });
ms.plot({ align: true, filename: 'x.svg' });
void ms.samples;
const one: unknown = getSync({ a: [(x: number) => x, 1] }, 'a');
const cb = new Callback({
  start(_dsk) {},
  startState(_dsk, state) {
    void state.dependencies;
  },
  pretask(_key, _dsk, _state) {},
  posttask(_key, _result, _dsk, _state, _workerId) {},
  finish(_dsk, _state, _errored) {},
});
await getThreaded({ a: 1 }, ['a'], { callbacks: [cb], numWorkers: 1, priority: -1, signal: ctl.signal });
class Print extends Callback {
  override _start(_dsk: unknown) {}
  override _pretask(_key: string) {}
}
{
  using pk = new Print();
  void pk;
}
const pb = new ProgressBar({ minimum: 0, width: 40, dt: 0.1, out: process.stdout });
void pb.lastDuration;
const prof = new Profiler(),
  rprof = new ResourceProfiler({ dt: 1 }),
  cprof = new CacheProfiler({ metric: () => 1, metricName: 'x' });
visualize([prof, rprof, cprof], { filename: 'x.html' });
prof.clear();
const tr2 = openTrace('/tmp/x');
openTrace(new Uint8Array());
const ep = new EventProfiler('x.msgpack');
ep.recordCompleteEvent('n', 1, 2, { args: {} });
ep.recordInstantEvent('n', 1);
ep.recordDurationBeginEvent('n', 1);
ep.recordDurationEndEvent('n', 2);
for (const e of ep.getTraces()) void e;
ep.commit();
const fd = new FileDatabase('x.msgpack', {
  commitThreshold: 5000,
  removeOldOutputFile: true,
  commitOnClose: true,
  lockTimeout: 30,
  flush: true,
});
const ep2 = new EventProfiler({ database: fd });
const an = new TraceAnalyser(new MultiEventDatabase([ep, ep2]));
new TraceAnalyser(tr2);
new TraceAnalyser(tr2, { compat: 'dasf' });
const tab: Table = an.perFunctionBottleneck();
tab.columns;
tab.rows;
tab.length;
tab.head(3);
tab.sort('x');
tab.toCSV();
tab.toString();
tab.toArrow();
const cp = criticalPath(tr2, { start: 1, stop: 2 });
void [
  cp.start,
  cp.stop,
  cp.makespan,
  cp.parts[0]?.kind,
  cp.byPrefix[0]?.seconds,
  cp.byKind[0]?.kind,
  cp.floor,
];
const sim = simulate(tr2, {
  workers: 4,
  bandwidth: 1e9,
  memoryLimit: 1e9,
  faster: { x: 2 },
  schedulerOverhead: 0,
  start: 1,
  stop: 2,
});
void [sim.makespan, sim.low, sim.high, sim.busy];
const fi = findings(tr2);
void [fi[0]?.code, fi[0]?.title, fi[0]?.seconds, fi[0]?.confidence, fi[0]?.evidence, fi[0]?.advice];
const di = diff(tr2, tr2, { failOver: 0.05 });
void di.rows;
const comps: readonly { start: number; stop: number; keys: readonly string[] }[] = tr2.computations;
const pl = new Pipeline('name', { client: c });
pl.add((X: number) => X, { X: 1 }).visualize({ filename: 'x.svg' });
await pl.run();
registerDefaultProfiler(pl, { name: 'default', enableNvtx: false, addTimeSuffix: true });
registerDefaultProfiler(c);
config.get('profile-interval');
await c.close();
void [
  n,
  f0,
  g,
  aa,
  bb,
  p,
  gm,
  mixed,
  kept,
  got,
  s1,
  s2,
  r,
  r2,
  tree,
  ts,
  wp,
  tr,
  link,
  st,
  ex,
  six,
  wrapped,
  res,
  one,
  comps,
  TaskError,
  KilledWorkerError,
  LongpoleError,
  getMultiprocessing,
  threadProf,
  processProf,
  withCallbacks,
  delayed,
];
export type TF = TaskFunction<(x: number) => number>;

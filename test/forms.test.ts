// Every public function, called in the forms that users of Dask and of Node would try. Each form works or throws
// ERR_LONGPOLE_INVALID_ARGUMENT with the name of the argument. No argument is ignored silently.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as longpole from 'longpole';
import { type Client, compute, connect, Delayed, delayed, LongpoleError, performanceReport } from 'longpole';
import * as analysis from 'longpole/analysis';
import * as diagnostics from 'longpole/diagnostics';
import * as local from 'longpole/local';
import * as trace from 'longpole/trace';

const inc = delayed((x: number) => x + 1);
const graph = { a: [(x: number) => x + 1, 1] };

/** A form of a call, and its expected value or a pattern of its error message. */
type Form = readonly [form: string, call: (client: Client, folder: string) => unknown, expected: unknown];

/** Calls a function without type checks, as a program in JavaScript does. */
function loose(fn: unknown, ...args: readonly unknown[]): unknown {
  assert.ok(typeof fn === 'function');
  return Reflect.apply(fn, undefined, args);
}

function make(Class: unknown, ...args: readonly unknown[]): unknown {
  assert.ok(typeof Class === 'function');
  return Reflect.construct(Class, args);
}

/** Calls a method by name, without type checks. */
function on(target: object, name: string, ...args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(target, name);
  assert.ok(typeof method === 'function', name);
  return Reflect.apply(method, target, args);
}

const future = (client: Client) => client.submit((x: number) => x + 1, 1);

const DEFINING: readonly Form[] = [
  ['delayed(fn, { nmae })', () => loose(delayed, () => 1, { nmae: 'x' }), /'nmae' is not an option.*'name'/],
  ['delayed(fn, "name")', () => loose(delayed, () => 1, 'name'), /delayed\(\): options/],
  ['delayed(5)', () => loose(delayed, 5), /delayed/],
  ['withOptions({ kye })', () => loose(inc.withOptions, { kye: 'x' }), /'kye' is not an option.*'key'/],
  ['tasks({ … })', () => loose(longpole.tasks, { f: () => 1 }), /import\.meta\.url/],
  ['key([])', () => loose(longpole.key, Symbol('x')), /key/],
  ['span()', () => loose(longpole.span), /span/],
  ['span(name, 5)', () => loose(longpole.span, 'x', 5), /span/],
  ['contextMeter.meter()', () => loose(longpole.contextMeter.meter), /label/],
  ['contextMeter.meter(label, 5)', () => loose(longpole.contextMeter.meter, 'x', 5), /meter/],
  ['contextMeter.digestMetric(label)', () => loose(longpole.contextMeter.digestMetric, 'x'), /metric|unit/],
  ['new Config({ dir })', () => make(longpole.Config, { dir: '.' }), /'dir' is not an option.*'directory'/],
];

const COMPUTING: readonly Form[] = [
  ['compute(a, b)', () => compute(inc(1), inc(2)), [2, 3]],
  ['compute([a, b])', () => compute([inc(1), inc(2)]), [2, 3]],
  ['compute([a, b], options)', () => compute([inc(1), inc(2)], { scheduler: 'sync' }), [2, 3]],
  ['compute(a, undefined)', () => loose(compute, inc(1), undefined), [2]],
  ['compute(a, { absent: undefined })', () => loose(compute, inc(1), { absent: undefined }), [2]],
  ['compute(a, { key, pure })', () => compute(inc(1), { key: 'k', pure: true }), [2]],
  ['delayed.compute({ key, pure })', () => inc(1).compute({ key: 'k', pure: false, scheduler: 'sync' }), 2],
  ['compute(a, { key: 5 })', () => loose(compute, inc(1), { key: 5 }), /key: expected a text/],
  ['compute(a, { pure: 1 })', () => loose(compute, inc(1), { pure: 1 }), /pure: expected true or false/],
  ['compute(a, b, { get })', () => compute(inc(1), inc(2), { get: local.getSync }), [2, 3]],
  ['delayed.compute({ get })', () => inc(inc(1)).compute({ get: local.getThreaded, numWorkers: 1 }), 3],
  ['compute(a, { get: 5 })', () => loose(compute, inc(1), { get: 5 }), /get: expected a function/],
  ['compute(a, { get: fn })', () => compute(inc(1), { get: () => 5 }), /what get returned.*5/],
  [
    'compute(a, { get, priority })',
    () => compute(inc(1), { get: local.getSync, priority: 1 }),
    /'priority' is not an option/,
  ],
  ['compute()', () => compute(), []],
  ['compute(undefined)', () => loose(compute, undefined), /compute\(\).*undefined/],
  ['compute(a, 5)', () => loose(compute, inc(1), 5), /compute\(\).*5/],
  ['compute([a], b)', () => loose(compute, [inc(1)], inc(1)), /compute\(\).*an array/],
  [
    'compute(a, { num_workers })',
    () => loose(compute, inc(1), { num_workers: 2 }),
    /Did you mean 'numWorkers'/,
  ],
  [
    'compute(a, { scheduler: x })',
    () => loose(compute, inc(1), { scheduler: 'x' }),
    /scheduler: expected one of/,
  ],
  [
    'compute(a, { scheduler: cluster, callbacks })',
    () => compute(inc(1), { scheduler: 'cluster', callbacks: { posttask: () => undefined } }),
    /callbacks/,
  ],
  ['delayed.compute(4)', () => on(inc(1), 'compute', 4), /compute\(\): options/],
  ['delayed.compute({ timeuot })', () => on(inc(1), 'compute', { timeuot: 4 }), /'timeuot'.*'timeout'/],
  ['delayed.persist(4)', () => on(inc(1), 'persist', 4), /Client\.persist/],
  ['getSync(graph, "a", "b")', () => loose(local.getSync, graph, 'a', 'b'), /getSync\(\): options/],
  ['getThreaded(…, { n })', () => loose(local.getThreaded, graph, 'a', { nworkers: 1 }), /'numWorkers'/],
  [
    'getMultiprocessing(…, { numWorkers: 0 })',
    () => local.getMultiprocessing({ a: 1 }, 'a', { numWorkers: 0 }),
    /numWorkers/,
  ],
  ['new Delayed()', () => make(Delayed), /delayed/],
];

const CLUSTERS: readonly Form[] = [
  ['connect("dask-scheduler")', () => loose(connect, 'localhost'), /no address of a scheduler/],
  ['connect(4)', () => loose(connect, 4), /connect/],
  ['connect({ n_workers })', () => loose(connect, { n_workers: 2 }), /'n_workers'.*'workers'/],
  ['connect({ memory_limit })', () => loose(connect, { memory_limit: '1GB' }), /Did you mean 'memoryLimit'/],
  ['connect({}, { default })', () => loose(connect, {}, { asDefault: false }), /'setAsDefault'/],
  ['new LocalCluster()', () => make(longpole.LocalCluster, { workers: 2 }), /LocalCluster\.start/],
  ['new Client()', (client) => make(longpole.Client, client.cluster), /await connect/],
  ['LocalCluster.start(4)', () => loose(longpole.LocalCluster.start, 4), /LocalCluster: options/],
  [
    'LocalCluster.start({ profile: { intervall } })',
    () => loose(longpole.LocalCluster.start, { profile: { intervall: 1 } }),
    /'interval'/,
  ],
  [
    'LocalCluster.start({ dashboard: { prot } })',
    () => loose(longpole.LocalCluster.start, { dashboard: { prot: 1 } }),
    /'port'/,
  ],
  ['cluster.scale("4")', (client) => on(client.cluster, 'scale', '4'), /workers/],
];

const CLIENT: readonly Form[] = [
  ['compute(a)', (client) => client.compute(inc(1)), 2],
  ['compute([a])', (client) => client.compute([inc(1)]), [2]],
  ['compute(a, b)', (client) => client.compute(inc(1), inc(2)), [2, 3]],
  ['compute(a, b, options)', (client) => client.compute(inc(1), inc(2), { priority: 1 }), [2, 3]],
  ['compute(undefined)', (client) => on(client, 'compute', undefined), /Client\.compute.*undefined/],
  ['compute(a, { prioritty })', (client) => on(client, 'compute', inc(1), { prioritty: 1 }), /'priority'/],
  ['persist(a, b)', (client) => client.gather(client.persist(inc(1), inc(2))), [2, 3]],
  ['persist(5)', (client) => on(client, 'persist', 5), /Client\.persist/],
  ['get(graph, key, 5)', (client) => on(client, 'get', graph, 'a', 5), /Client\.get: options/],
  ['submit(5)', (client) => on(client, 'submit', 5), /submit/],
  [
    'submit(fn, 1, { retries: -1 })',
    (client) => on(client, 'submit', Math.abs, 1, { retries: -1 }),
    /retries/,
  ],
  ['map(fn)', (client) => on(client, 'map', Math.abs), /map\(\)/],
  ['map(fn, 5)', (client) => on(client, 'map', Math.abs, 5), /map\(\)/],
  ['map(fn, [1], { retires })', (client) => on(client, 'map', Math.abs, [1], { retires: 1 }), /'retries'/],
  ['gather(future)', (client) => client.gather(future(client)), 2],
  ['gather(scatter([…]))', (client) => client.gather(client.scatter([1, 2])), [1, 2]],
  ['gather([scatter(x)])', (client) => client.gather([client.scatter(1)]), [1]],
  ['gather(set)', (client) => client.gather(new Set([future(client)])), new Set([2])],
  ['gather(map)', (client) => client.gather(new Map([['x', future(client)]])), new Map([['x', 2]])],
  ['gather(iterator)', (client) => client.gather([future(client)].values()), [2]],
  [
    'gather(a, b)',
    (client) => on(client, 'gather', future(client), future(client)),
    /Client\.gather: options.*Future/,
  ],
  ['gather(undefined)', (client) => on(client, 'gather', undefined), /Client\.gather: futures/],
  ['gather(f, { errors })', (client) => on(client, 'gather', future(client), { errors: 'x' }), /errors/],
  ['scatter(x, true)', (client) => on(client, 'scatter', 1, true), /Client\.scatter: options/],
  ['scatter(x, { brodcast })', (client) => on(client, 'scatter', 1, { brodcast: true }), /'broadcast'/],
  ['cancel(a, b)', (client) => client.cancel(future(client), future(client)), undefined],
  ['cancel(a, 5)', (client) => on(client, 'cancel', future(client), 5), /Client\.cancel: futures/],
  ['run(fn, 5)', (client) => on(client, 'run', () => 1, 5), /Client\.run: options/],
  ['run(fn, {}, 5)', (client) => on(client, 'run', () => 1, {}, 5), /Client\.run.*5/],
  ['run(fn, { worker })', (client) => on(client, 'run', () => 1, { worker: 'x' }), /'workers'/],
  ['run(5)', (client) => on(client, 'run', 5), /Client\.run: fn/],
  ['runOnScheduler(fn, 5)', (client) => on(client, 'runOnScheduler', () => 1, 5), /runOnScheduler.*5/],
  ['profile("spin")', (client) => on(client, 'profile', 'spin'), /Client\.profile: options/],
  ['profile({ filename: p.xyz })', (client) => client.profile({ filename: 'p.xyz' }), /filename.*\.html/],
  ['getTaskStream(1, 2)', (client) => on(client, 'getTaskStream', 1, 2), /getTaskStream: options/],
  ['getTaskStream({ filename })', (client) => client.getTaskStream({ filename: 'x.png' }), /filename/],
  ['record()', (client) => on(client, 'record'), /record/],
  [
    'record(folder, { overwite })',
    (client, folder) => on(client, 'record', folder, { overwite: true }),
    /'overwrite'/,
  ],
  [
    'registerPlugin(new WorkerPlugin())',
    (client) => on(client, 'registerPlugin', { setup: () => 1, transition: () => 1 }),
    /setup.*import\.meta\.url/,
  ],
  ['registerPlugin({})', (client) => on(client, 'registerPlugin', {}), /registerPlugin: plugin/],
  [
    'registerPlugin({ url, exprot })',
    (client) => on(client, 'registerPlugin', { url: 'file:///x', exprot: 'X' }),
    /'export'/,
  ],
  ['observe(5)', (client) => on(client, 'observe', 5), /observer/],
  ['whoHas("key")', (client) => on(client, 'whoHas', 5), /Client\.whoHas: futures/],
  ['hasWhat(5)', (client) => on(client, 'hasWhat', 5), /Client\.hasWhat: workers/],
  ['hasWhat("absent")', (client) => client.hasWhat('absent'), /absent/],
  ['processing([])', (client) => client.processing([]), /Client\.processing: workers/],
  ['callStack(5)', (client) => on(client, 'callStack', 5), /Client\.callStack: futures/],
  ['nbytes(future)', (client) => on(client, 'nbytes', future(client)), /Client\.nbytes: options/],
  ['nthreads(5)', (client) => on(client, 'nthreads', 5), /Client\.nthreads: workers/],
  ['logEvent()', (client) => on(client, 'logEvent'), /Client\.logEvent: topic/],
  ['getEvents(5)', (client) => on(client, 'getEvents', 5), /Client\.getEvents: topic/],
  ['subscribeTopic("x")', (client) => on(client, 'subscribeTopic', 'x'), /Client\.subscribeTopic: handler/],
  ['restartWorkers()', (client) => on(client, 'restartWorkers'), /Client\.restartWorkers: workers/],
  ['asCompleted(5)', () => loose(longpole.asCompleted, 5), /asCompleted|AsCompleted/],
  ['asCompleted([], true)', () => loose(longpole.asCompleted, [], true), /asCompleted\(\): options/],
  [
    'asCompleted([], { with_results })',
    () => loose(longpole.asCompleted, [], { with_results: 1 }),
    /'withResults'/,
  ],
  ['wait(promise)', () => loose(longpole.wait, Promise.resolve()), /wait\(\): futures/],
  ['wait([], 5)', () => loose(longpole.wait, [], 5), /wait\(\): options/],
  ['wait([], { return_when })', () => loose(longpole.wait, [], { return_when: 'first' }), /'returnWhen'/],
  ['progress([5])', () => loose(longpole.progress, [5]), /progress\(\): futures/],
  ['progress([], { width: 0 })', () => longpole.progress([], { width: 0 }), /width/],
  ['annotate(fn)', () => loose(longpole.annotate, () => 1), /annotate.*fn/],
  ['annotate({ prio }, fn)', () => loose(longpole.annotate, { prio: 1 }, () => 1), /'priority'/],
  ['delayed.visualize("x.svg")', () => on(inc(1), 'visualize', 'x.svg'), /visualize: options/],
  ['future.result(5)', (client) => on(future(client), 'result', 5), /Future\.result.*5/],
];

const REPORTS: readonly Form[] = [
  ['performanceReport(5)', () => loose(performanceReport, 5), /performanceReport\(\): options/],
  ['performanceReport({ file })', () => loose(performanceReport, { file: 'x' }), /'filename'/],
  [
    "performanceReport('x.html', fn)",
    async (_client, folder) => performanceReport(join(folder, 'named.html'), () => 7),
    7,
  ],
  [
    'performanceReport(fn)',
    async (_client, folder) => {
      const before = process.cwd();
      process.chdir(folder);
      try {
        return await performanceReport(() => 8);
      } finally {
        process.chdir(before);
      }
    },
    8,
  ],
  [
    'sample(label, client)',
    (client) => on(new longpole.MemorySampler(), 'sample', 'y', client),
    /options.*Client/,
  ],
  [
    'sample(label, { mesure })',
    () => on(new longpole.MemorySampler(), 'sample', 'y', { mesure: 1 }),
    /'measure'/,
  ],
  ['sample(5)', () => on(new longpole.MemorySampler(), 'sample', 5), /label/],
  ['plot("x.html")', () => on(new longpole.MemorySampler(), 'plot', 'x.html'), /plot: options/],
  [
    'plot({ filename: x.png })',
    () => new longpole.MemorySampler().plot({ filename: 'x.png' }),
    /filename.*\.svg/,
  ],
  ['toTable(true)', () => on(new longpole.MemorySampler(), 'toTable', true), /toTable: options/],
];

const DIAGNOSTICS: readonly Form[] = [
  ['new ProgressBar(1)', () => make(diagnostics.ProgressBar, 1), /ProgressBar: options.*minimum/],
  ['new ProgressBar({ widht })', () => make(diagnostics.ProgressBar, { widht: 1 }), /Did you mean 'width'/],
  [
    'new ResourceProfiler(0.05)',
    () => make(diagnostics.ResourceProfiler, 0.05),
    /ResourceProfiler: options.*dt/,
  ],
  ['new ResourceProfiler({ dt: 0 })', () => new diagnostics.ResourceProfiler({ dt: 0 }), /dt/],
  ['new ProgressBar({ dt: 2 ** 31 })', () => new diagnostics.ProgressBar({ dt: 2 ** 31 }), /dt.*2147483/],
  [
    'new ResourceProfiler({ dt: Infinity })',
    () => new diagnostics.ResourceProfiler({ dt: Infinity }),
    /dt.*2147483/,
  ],
  [
    'sample(label, { interval: Infinity })',
    () => new longpole.MemorySampler().sample('y', { interval: Infinity }),
    /interval.*0\.01 to 2147483/,
  ],
  [
    'TraceWriter.create(directory, { interval: Infinity })',
    () => trace.TraceWriter.create('never.trace', { interval: Infinity }),
    /interval.*2147483/,
  ],
  ['new CacheProfiler({ metrics })', () => make(diagnostics.CacheProfiler, { metrics: 1 }), /'metric'/],
  ['new Profiler({})', () => make(diagnostics.Profiler, {}), /Profiler/],
  ['new Callback(fn)', () => make(diagnostics.Callback, () => 1), /Callback: options.*startState/],
  ['new Callback({ pre_task })', () => make(diagnostics.Callback, { pre_task: 1 }), /Did you mean 'pretask'/],
  ['withCallbacks(fn)', () => loose(diagnostics.withCallbacks, () => 1), /callbacks/],
  ['withCallbacks([], 5)', () => loose(diagnostics.withCallbacks, [], 5), /withCallbacks.*fn/],
  [
    'visualize(a, b)',
    () => loose(diagnostics.visualize, [], new diagnostics.Profiler()),
    /visualize\(\): options/,
  ],
  [
    'visualize([], "x.html")',
    () => loose(diagnostics.visualize, [], 'x.html'),
    /visualize\(\): options.*filename/,
  ],
  ['visualize([], { filename: x.png })', () => diagnostics.visualize([], { filename: 'x.png' }), /\.html/],
  ['visualize(5)', () => loose(diagnostics.visualize, 5), /visualize/],
  [
    'writeReport(trace, file, 5)',
    (client) => loose(diagnostics.writeReport, client.trace, 'x', 5),
    /writeReport/,
  ],
  ['writeDiffPage(diff, "x.png")', () => loose(diagnostics.writeDiffPage, {}, 'x.png'), /filename/],
];

const TRACES: readonly Form[] = [
  ['new EventProfiler(5)', () => make(trace.EventProfiler, 5), /databaseFile/],
  ['new EventProfiler({ databse })', () => make(trace.EventProfiler, { databse: 1 }), /'database'/],
  ['new FileDatabase(5)', () => make(trace.FileDatabase, 5), /FileDatabase: file/],
  ['new FileDatabase(f, { flsh })', () => make(trace.FileDatabase, 'f', { flsh: 1 }), /'flush'/],
  ['openTrace(5)', () => loose(trace.openTrace, 5), /openTrace/],
  ['openTrace(p, { maxBytes })', () => loose(trace.openTrace, 'p', { maxUnpacked: 1 }), /'maxUnpackedBytes'/],
  ['openTraces("x")', () => loose(trace.openTraces, 'x'), /paths/],
  ['TraceWriter.create()', () => loose(trace.TraceWriter.create), /directory/],
  [
    'exportTrace(trace, "x")',
    (client) => loose(trace.exportTrace, client.trace, 'x'),
    /exportTrace\(\): options/,
  ],
  ['exportTrace(trace)', (client) => loose(trace.exportTrace, client.trace), /exportTrace\(\): options/],
  [
    'exportTrace(trace, { format })',
    (client) => loose(trace.exportTrace, client.trace, { format: 'x' }),
    /'format'/,
  ],
  [
    'viewTrace(trace, 8787)',
    (client) => loose(trace.viewTrace, client.trace, 8787),
    /viewTrace\(\): options/,
  ],
  ['observeDask(a, 5)', () => loose(trace.observeDask, 'tcp://x:1', 5), /observeDask\(\): options/],
  ['new Pipeline()', () => make(trace.Pipeline), /Pipeline: name/],
  ['new Pipeline("x", client)', (client) => make(trace.Pipeline, 'x', client), /Pipeline: options/],
  ['add(step, step)', () => on(new trace.Pipeline('x'), 'add', inc, [inc]), /sources/],
  ['visualize("x.svg")', () => on(new trace.Pipeline('x'), 'visualize', 'x.svg'), /visualize: options/],
  [
    'registerDefaultProfiler(client, "x")',
    (client) => loose(trace.registerDefaultProfiler, client, 'x'),
    /registerDefaultProfiler\(\): options/,
  ],
];

const ANALYSES: readonly Form[] = [
  [
    'criticalPath(client)',
    (client) => loose(analysis.criticalPath, client),
    /criticalPath\(\): trace.*Client/,
  ],
  [
    'criticalPath(trace, 5)',
    (client) => loose(analysis.criticalPath, client.trace, 5),
    /criticalPath\(\): options/,
  ],
  ['findings()', () => loose(analysis.findings), /findings\(\): trace/],
  ['simulate(trace, 4)', (client) => loose(analysis.simulate, client.trace, 4), /simulate\(\): options/],
  [
    'simulate(trace, { worker })',
    (client) => loose(analysis.simulate, client.trace, { worker: 4 }),
    /'workers'/,
  ],
  [
    'diff(a, b, 0.05)',
    (client) => loose(analysis.diff, client.trace, client.trace, 0.05),
    /diff\(\): options/,
  ],
  [
    'profileTree(trace, "inc")',
    (client) => loose(analysis.profileTree, client.trace, 'inc'),
    /profileTree\(\): options/,
  ],
  ['profileTimeline(trace)', (client) => loose(analysis.profileTimeline, client.trace), /bins/],
  [
    'new TraceAnalyser(t, "dasf")',
    (client) => make(analysis.TraceAnalyser, client.trace, 'dasf'),
    /TraceAnalyser: options/,
  ],
  [
    'perWorkerTaskBalance(1)',
    (client) => on(new analysis.TraceAnalyser(client.trace), 'perWorkerTaskBalance', 1),
    /options/,
  ],
  [
    'table.toString(5)',
    (client) => on(new analysis.TraceAnalyser(client.trace).perTaskBottleneck(), 'toString', 5),
    /options/,
  ],
];

const folder = mkdtempSync(join(tmpdir(), 'longpole-forms-'));
let client: Client;

before(async () => {
  client = await connect({ workers: 1, profile: false });
});

after(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

const TABLES = { DEFINING, COMPUTING, CLUSTERS, CLIENT, REPORTS, DIAGNOSTICS, TRACES, ANALYSES };

for (const [name, forms] of Object.entries(TABLES))
  test(`${name.toLowerCase()}: every form of a call works or throws an error that names the wrong argument`, async () => {
    for (const [form, call, expected] of forms) {
      const outcome = await outcomeOf(() => call(client, folder));
      if (!(expected instanceof RegExp)) assert.deepEqual(outcome, { value: expected }, form);
      else assert.match(messageOf(form, outcome), expected, form);
    }
  });

type Outcome = { readonly value: unknown } | { readonly error: unknown };

async function outcomeOf(call: () => unknown): Promise<Outcome> {
  try {
    return { value: await call() };
  } catch (error) {
    return { error };
  }
}

function messageOf(form: string, outcome: Outcome): string {
  if ('value' in outcome) assert.fail(`${form} was accepted`);
  const { error } = outcome;
  assert.ok(error instanceof LongpoleError, `${form}: ${String(error)}`);
  assert.equal(error.code, 'ERR_LONGPOLE_INVALID_ARGUMENT', form);
  return error.message;
}

/** Exports that need no form: classes of values, constants, and helpers without options. */
const PLAIN: ReadonlySet<string> = new Set([
  ...[
    'AsCompleted',
    'KilledWorkerError',
    'LongpoleError',
    'TaskError',
    'Future',
    'config',
    'keySplit',
    'literal',
  ],
  ...['threadProf', 'processProf', 'hostFacts', 'nbytes', 'terminateSharedPools'],
  ...['CompleteEvent', 'DurationBeginEvent', 'DurationEndEvent', 'InstantEvent', 'PhaseEvent'],
  ...['EventPhases', 'InstantEventScope', 'MultiEventDatabase', 'DURATION_BUCKETS', 'bucketStart'],
  ...['DaskObservation', 'EXPORTERS', 'observeProgram', 'QUESTIONS', 'Table', 'findingsTable'],
  ...[
    'computationCount',
    'recordsTransfers',
    'nothingFoundIn',
    'profiledPrefixes',
    'samplingInterval',
    'scaling',
    'speedups',
  ],
]);

test('every public function has a form in one of the tables', () => {
  const forms = Object.values(TABLES).flat();
  const words = new Set(forms.flatMap(([form, call]) => `${form} ${String(call)}`.match(/\w+/g) ?? []));
  const exported = [longpole, local, diagnostics, trace, analysis].flatMap((entry) => Object.keys(entry));
  assert.deepEqual(
    exported.filter((name) => !PLAIN.has(name) && !words.has(name)),
    [],
  );
});

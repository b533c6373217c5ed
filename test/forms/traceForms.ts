// Forms of calls that measure runs, and read, write and analyse traces.
import { join } from 'node:path';
import * as longpole from 'longpole';
import { performanceReport } from 'longpole';
import * as analysis from 'longpole/analysis';
import * as diagnostics from 'longpole/diagnostics';
import * as trace from 'longpole/trace';
import { type Form, inc, loose, make, on } from './form.js';

export const REPORTS: readonly Form[] = [
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

export const DIAGNOSTICS: readonly Form[] = [
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

export const TRACES: readonly Form[] = [
  ['new EventProfiler(5)', () => make(trace.EventProfiler, 5), /databaseFile/],
  ['new EventProfiler({ databse })', () => make(trace.EventProfiler, { databse: 1 }), /'database'/],
  ['new FileDatabase(5)', () => make(trace.FileDatabase, 5), /FileDatabase: file/],
  ['new FileDatabase(f, { flsh })', () => make(trace.FileDatabase, 'f', { flsh: 1 }), /'flush'/],
  ['openTrace(5)', () => loose(trace.openTrace, 5), /openTrace/],
  ['openTrace(p, { maxBytes })', () => loose(trace.openTrace, 'p', { maxUnpacked: 1 }), /'maxUnpackedBytes'/],
  ['openTraces([trace])', (client) => loose(trace.openTraces, [client.trace]), /paths/],
  ['observeProgram(null)', () => loose(trace.observeProgram, null), /observer.*TraceWriter/],
  ['registerDefaultProfiler()', () => loose(trace.registerDefaultProfiler), /a Pipeline or a Client/],
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

/** Functions of a trace, called with the path of a trace, and with nothing. */
const NO_TRACES: readonly Form[] = Object.entries({
  computationCount: analysis.computationCount,
  cutOffTexts: analysis.cutOffTexts,
  failedTasks: analysis.failedTasks,
  failedTaskCount: analysis.failedTaskCount,
  repeatedCount: analysis.repeatedCount,
  diff: analysis.diff,
  exportTrace: trace.exportTrace,
  findings: analysis.findings,
  lostRunCount: analysis.lostRunCount,
  profiledPrefixes: analysis.profiledPrefixes,
  programTimes: analysis.programTimes,
  recordsTransfers: analysis.recordsTransfers,
  samplingInterval: analysis.samplingInterval,
  scaling: analysis.scaling,
  simulate: analysis.simulate,
  skippedTasks: analysis.skippedTasks,
  speedups: analysis.speedups,
  spilledResults: analysis.spilledResults,
  viewTrace: trace.viewTrace,
  workerShares: analysis.workerShares,
  writeReport: diagnostics.writeReport,
}).flatMap(([name, fn]): Form[] => [
  [`${name}('run.trace')`, () => loose(fn, 'run.trace'), new RegExp(`${name}.*expected a trace`)],
  [`${name}()`, () => loose(fn), new RegExp(`${name}.*expected a trace`)],
]);

export const ANALYSES: readonly Form[] = [
  ...NO_TRACES,
  ['findingsTable(trace)', (client) => loose(analysis.findingsTable, client.trace), /findingsTable\(\)/],
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
    'table.toCSV("x.csv")',
    (client) => on(new analysis.TraceAnalyser(client.trace).perTaskBottleneck(), 'toCSV', 'x.csv'),
    /Table\.toCSV.*'x\.csv'.*Write it to a file/,
  ],
  [
    'table.toArrow("x.arrow")',
    (client) => on(new analysis.TraceAnalyser(client.trace).perTaskBottleneck(), 'toArrow', 'x.arrow'),
    /Table\.toArrow.*'x\.arrow'/,
  ],
  ['pipeline.run(input)', () => on(new trace.Pipeline('p'), 'run', 5), /Pipeline\.run.*5.*add\(step/],
  [
    'table.toString(5)',
    (client) => on(new analysis.TraceAnalyser(client.trace).perTaskBottleneck(), 'toString', 5),
    /options/,
  ],
];

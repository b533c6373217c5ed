// Finds the compiled test files and decides in which order they run.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

const BROWSER_TESTS = 'dist-test/test/browser/';
/** Tests of the whole package. They start clusters and programs, so they take much longer than unit tests. */
const WHOLE_PACKAGE = 'dist-test/';
/**
 * Beginnings of the paths of tests that only compute. They start no thread and no process, and do not affect other tests. Several of
 * their files share a process, because starting one takes longer than most of them. testFiles.test.mjs checks a part of
 * this.
 */
export const COMPUTING = [
  'dist/analysis/',
  'dist/api/argumentChecks.',
  'dist/base/',
  'dist/cli/',
  'dist/dashboard/',
  'dist/dask/clusterMirror.',
  'dist/dask/schedulerAddress.',
  'dist/dask/workerClock.',
  'dist/engine/clockOffset.',
  'dist/engine/cluster/coordination/',
  'dist/engine/host/gatherInputs.',
  'dist/engine/host/isolateCopies.',
  'dist/engine/metrics/',
  'dist/engine/prefixTable.',
  'dist/engine/scheduler/clusterPolicies.',
  'dist/engine/scheduler/pausing.',
  'dist/engine/transfer/transferLog.',
  'dist/engine/transfer/transferMessages.',
  'dist/engine/worker/coreWaits.',
  'dist/engine/worker/ownResult.',
  'dist/engine/worker/shapeOf.',
  'dist/engine/worker/thrownByTask.',
  'dist/examples/',
  'dist/graph/',
  'dist/pipeline/',
  'dist/profile/',
  'dist/protocol/',
  'dist/server/oneTrace.',
  'dist/server/pace.',
  'dist/server/progressRows.',
  'dist/server/sums.',
  'dist/trace/',
];
/**
 * Beginnings of the paths of further unit tests of which several share a process. They start threads, or read the state of this
 * process, and close what they open within each test.
 */
export const CLOSING = [
  'dist/api/cluster/processMemory.',
  'dist/api/cluster/watchedComputation.',
  'dist/dask/frameReader.',
  'dist/diagnostics/cacheProfiler.',
  'dist/diagnostics/memorySampler.',
  'dist/diagnostics/profiler.',
  'dist/diagnostics/runRecording.',
  'dist/diagnostics/span.',
  'dist/diagnostics/visualize.',
  'dist/engine/blockedIsolates.',
  'dist/engine/cluster/gatherRoom.',
  'dist/engine/cluster/stealing.',
  'dist/engine/host/hostMeasures.',
  'dist/engine/host/runningTask.',
  'dist/engine/profiler/codeNaming.',
  'dist/engine/profiler/sourcePositions.',
  'dist/engine/profiler/taskIntervalLog.',
  'dist/engine/programCopies.',
  'dist/engine/scheduler/batches.',
  'dist/engine/scheduler/scheduler.',
  'dist/engine/store/compression.',
  'dist/engine/store/memoryMonitor.',
  'dist/engine/store/store.',
  'dist/engine/worker/batchQueue.',
  'dist/engine/worker/isolateRun.',
  'dist/engine/worker/loneModule.',
  'dist/engine/worker/packResult.',
  'dist/engine/worker/publication.',
  'dist/engine/worker/runQueueClock.',
  'dist/engine/worker/secededTime.',
  'dist/engine/worker/shareBuffers.',
  'dist/engine/worker/taskMetering.',
  'dist/engine/workerProcess/messageCodec.',
  'dist/engine/workerProcess/processHost.',
  'dist/engine/workerProcess/remoteChannel.',
  'dist/files/formatVersions.',
  'dist/resources/hostCounters.',
  'dist/resources/idleTime.',
  'dist/resources/usageSampler.',
  'dist/server/outlet.',
  'dist/server/prometheus/prometheus.',
];
/**
 * Tests whose shared clusters are used by the next file, too (test/cluster/support.ts). Starting two kinds of workers takes
 * longer than some of these files.
 */
export const SHARING = [
  'calls',
  'clusterState',
  'coordination',
  'data',
  'dump',
  'killPoints',
  'plugins',
  'policies',
  'questions',
  'recreate',
  'retry',
  'secede',
  'sharedFutures',
  'sharedValues',
  'submit',
  'taskClient',
].map((name) => `dist-test/test/cluster/${name}.test.js`);
/** Tests that take longest, the longest first. Their size does not show how long they take. */
export const LONGEST = [
  'dist-test/test/samples.test.js',
  'dist-test/test/runCommand.test.js',
  'dist-test/test/package.test.js',
  'dist-test/test/dask/cluster.test.js',
  'dist-test/test/dask/runSetups.test.js',
  'dist-test/test/commandLine.test.js',
  'dist/files/traceDirectory.test.js',
  'dist/engine/cluster/protocolModel.test.js',
  'dist/engine/scheduler/clusterScheduler.test.js',
  'dist/server/liveStream.test.js',
  'dist/api/programCopies.test.js',
];
/**
 * Tests that compute for less than a third of their time and otherwise wait for processes and for time limits, the longest
 * first. They run beside the other tests.
 */
export const WAITING = [
  'dist-test/test/cluster/faults.test.js',
  'dist-test/test/cluster/programFaults.test.js',
  'dist-test/test/python/observe.test.js',
  'dist-test/test/dask/run.test.js',
  'dist-test/test/dask/clusterAddresses.test.js',
  'dist-test/test/dask/faults.test.js',
  'dist-test/test/dask/runFaults.test.js',
  'dist-test/test/dask/examples.test.js',
];
/**
 * Files that share processes, and how many files a process has. A file that hangs or ends its process prevents the files
 * behind it from running.
 */
const BATCHES = [
  { files: COMPUTING, size: 16 },
  { files: CLOSING, size: 8 },
  { files: SHARING, size: 5 },
];
/** Compiled folders and their sources. A compiled test without a source remains from an earlier build and is ignored. */
const TEST_FOLDERS = [
  { built: 'dist', source: 'src' },
  { built: 'dist/examples', source: 'examples' },
  { built: 'dist-test/test', source: 'test' },
  { built: 'scripts', source: 'scripts' },
];

/** Returns sorted paths relative to the root, with `/`: either browser tests or all other tests. */
export function testFiles(root, { browser }) {
  const files = TEST_FOLDERS.flatMap(({ built, source }) => {
    if (!existsSync(join(root, built))) return [];
    return readdirSync(join(root, built), { recursive: true, encoding: 'utf8' })
      .map((path) => path.split(sep).join('/'))
      .filter((path) => /\.test\.m?js$/.test(path) && hasSource(join(root, source, path)))
      .map((path) => `${built}/${path}`);
  });
  return files.filter((file) => file.startsWith(BROWSER_TESTS) === browser).sort();
}

function hasSource(path) {
  const stem = path.replace(/\.m?js$/, '');
  return ['.ts', '.tsx', '.js', '.mjs'].some((extension) => existsSync(stem + extension));
}

/**
 * Returns the files in starting order: the longest ones first, then tests of the whole package, larger files before smaller
 * ones. A long file that starts last would keep one core busy while the others are idle.
 */
export function longestFirst(root, files) {
  const rankOf = (file) => {
    const rank = LONGEST.indexOf(file);
    if (rank >= 0) return rank;
    return LONGEST.length + (file.startsWith(WHOLE_PACKAGE) ? 0 : 1);
  };
  const sizes = new Map(files.map((file) => [file, statSync(join(root, file)).size]));
  return files.toSorted((a, b) => rankOf(a) - rankOf(b) || sizes.get(b) - sizes.get(a));
}

/** Groups files by process: those of COMPUTING, CLOSING and SHARING in batches, each other file alone. */
export function inBatches(files) {
  const groups = [];
  const open = new Map();
  for (const file of files) {
    const kind = BATCHES.find((one) => one.files.some((beginning) => file.startsWith(beginning)));
    const batch = open.get(kind);
    if (kind !== undefined && batch !== undefined && batch.length < kind.size) batch.push(file);
    else {
      groups.push([file]);
      open.set(kind, groups.at(-1));
    }
  }
  return groups;
}

// Selects the tests that can pass on one version of Node and fail on another. `.ci/run` runs them on the newest LTS as
// well. All other code is plain ECMAScript and stable APIs, so its tests run on one version.
//
// - A unit test is selected if it imports, itself or through other files, a module of RUNTIME_MODULES. Tests in SIMULATED
//   are not, those in PROCESS_TESTS are.
// - A test of the whole package reaches all code, so PACKAGE_TESTS lists those that check what Node does: how threads,
//   processes, streams and modules start, exchange data, fail and end, what the inspector and the garbage collector see,
//   and what follows an async context.
//
// Tests of decisions are not selected, although they start workers: where and when the scheduler runs tasks, retries,
// shared objects, the number of workers, tables of analyses, which transfers and times a trace has, and Dask's side of a cluster.
// The selected tests start workers in the same ways.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Modules of Node that behave differently between versions. */
export const RUNTIME_MODULES = [
  'node:async_hooks',
  'node:inspector',
  'node:module',
  'node:stream',
  'node:stream/promises',
  'node:v8',
  'node:vm',
  'node:worker_threads',
];

/** Unit tests that import such modules, and replace all of them by a simulation that the test drives. */
export const SIMULATED = ['dist/engine/cluster/protocolModel.', 'dist/engine/host/evictions.'];

/** Unit tests without such modules that check how processes start and end. */
export const PROCESS_TESTS = ['dist/engine/pool/childChannel.', 'dist/resources/processTree.'];

/** Prefixes of the paths of tests of the whole package. */
export const PACKAGE_TESTS = [
  'dist-test/test/cancellation.',
  'dist-test/test/cluster/calls.',
  'dist-test/test/cluster/closing.',
  'dist-test/test/cluster/clusterState.',
  'dist-test/test/cluster/data.',
  'dist-test/test/cluster/defaultClient.',
  'dist-test/test/cluster/droppedFutures.',
  'dist-test/test/cluster/dump.',
  'dist-test/test/cluster/endings.',
  'dist-test/test/cluster/faults.',
  'dist-test/test/cluster/finishedComputations.',
  'dist-test/test/cluster/fullDisk.',
  'dist-test/test/cluster/hugePages.',
  'dist-test/test/cluster/killPoints.',
  'dist-test/test/cluster/lifetime.',
  'dist-test/test/cluster/memoryLimits.',
  'dist-test/test/cluster/output.',
  'dist-test/test/cluster/plugins.',
  'dist-test/test/cluster/programFaults.',
  'dist-test/test/cluster/secede.',
  'dist-test/test/cluster/sharedWaits.',
  'dist-test/test/cluster/signals.',
  'dist-test/test/cluster/stall.',
  'dist-test/test/cluster/submit.',
  'dist-test/test/cluster/taskClient.',
  // A program whose functions and modules are sent to Node processes on Dask.
  'dist-test/test/dask/run.',
  // Node processes that Python starts.
  'dist-test/test/dask/typescriptProcesses.',
  'dist-test/test/commandOutput.',
  'dist-test/test/defaultProfiler.',
  'dist-test/test/eventFiles.',
  'dist-test/test/faults.',
  'dist-test/test/imports.',
  'dist-test/test/inspectorEvents.',
  'dist-test/test/measuring.',
  'dist-test/test/otherRealm.',
  'dist-test/test/package.',
  'dist-test/test/parallelSchedulers.',
  'dist-test/test/profilers.',
  'dist-test/test/programModule.',
  'dist-test/test/progressBar.',
  'dist-test/test/runCommand.',
  'dist-test/test/schedulers.',
  'dist-test/test/taskModules.',
  'dist-test/test/tsxPrograms.',
];

/** Returns whether a compiled test depends on the version of Node. @param file path relative to `root`, with `/` */
export function isRuntimeTest(file, root = ROOT) {
  const startsWith = (beginning) => file.startsWith(beginning);
  if (!file.startsWith('dist/')) return PACKAGE_TESTS.some(startsWith);
  if (PROCESS_TESTS.some(startsWith)) return true;
  return !SIMULATED.some(startsWith) && usesRuntime(join(root, file));
}

/** Returns whether a compiled file, or one that it imports, imports a module of RUNTIME_MODULES. @param file absolute path */
export function usesRuntime(file, seen = new Set()) {
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const imported = importsOf(file);
  return (
    imported.some((name) => RUNTIME_MODULES.includes(name)) ||
    imported.some((name) => name.startsWith('.') && usesRuntime(resolve(dirname(file), name), seen))
  );
}

/** File → what it imports. */
const imports = new Map();

function importsOf(file) {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8');
  const found = Array.from(text.matchAll(/(?: from |\bimport |\bimport\()'([^']+)'/g), ([, name]) => name);
  imports.set(file, found);
  return found;
}

// Lists the tests that can fail on one version of Node and pass on another. They test code that uses worker threads,
// the inspector, streams, module loading or async context. `.ci/run` runs them on the newest LTS as well. All other
// code is plain ECMAScript and stable APIs, so its tests run on one version.

/** Modules of Node that behave differently between versions. */
export const RUNTIME_MODULES = [
  'node:async_hooks',
  'node:inspector',
  'node:module',
  'node:stream',
  'node:stream/promises',
  'node:worker_threads',
];

/** Prefixes of paths of compiled tests. runtimeTests.test.mjs fails if a prefix matches no file, or if one is missing. */
export const RUNTIME_TESTS = [
  'dist/api/',
  'dist/base/',
  'dist/cli/',
  'dist/dask/',
  'dist/diagnostics/',
  'dist/engine/cluster/',
  'dist/engine/host/',
  'dist/engine/pool/',
  'dist/engine/profiler/',
  'dist/engine/transfer/',
  'dist/engine/worker/',
  'dist/engine/workerProcess/',
  'dist/files/',
  'dist/resources/',
  'dist/server/',
  'dist-test/test/cluster/',
  'dist-test/test/cancellation.',
  'dist-test/test/commandLine.',
  'dist-test/test/dask/',
  'dist-test/test/defaultProfiler.',
  'dist-test/test/eventFiles.',
  'dist-test/test/faults.',
  'dist-test/test/imports.',
  'dist-test/test/measuring.',
  'dist-test/test/package.',
  'dist-test/test/parallelSchedulers.',
  'dist-test/test/profilers.',
  'dist-test/test/progressBar.',
  'dist-test/test/runCommand.',
  'dist-test/test/schedulers.',
  'dist-test/test/tsxPrograms.',
];

/** Returns whether a compiled test depends on the version of Node. */
export function isRuntimeTest(file) {
  return RUNTIME_TESTS.some((beginning) => file.startsWith(beginning));
}

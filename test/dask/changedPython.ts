// A Python for the bridges of tests, in which constants of the bridge's modules have other values, e.g. longer time limits: a busy
// machine may stop any process for seconds.
import { writeFileSync } from 'node:fs';

/** Time limits of the bridge of programs within which a worker that closes, or that a list lacks, must answer. */
export const LONG_LIMITS = {
  'worker_link.CONNECT_SECONDS': 60,
  'worker_link.LEAVING_SECONDS': 60,
  'node_tap.LEAVE_SILENCE': 30,
};

/**
 * Writes a program that starts a bridge, and returns its path.
 *
 * @param python absolute path of a Python
 * @param values values by `module.CONSTANT`
 */
export function changedPython(
  path: string,
  python: string,
  values: Readonly<Record<string, number>>,
): string {
  const modules = new Set(Object.keys(values).map((name) => name.split('.')[0]));
  const program = [
    'import runpy, sys',
    `from longpole_dask import ${[...modules].join(', ')}`,
    ...Object.entries(values).map(([name, value]) => `${name} = ${value}`),
    'runpy.run_module(sys.argv.pop(1), run_name="__main__")',
  ].join('; ');
  // Without the arguments -B -m.
  writeFileSync(path, `#!/bin/sh\nshift 2\nexec '${python}' -B -c '${program}' "$@"\n`, { mode: 0o755 });
  return path;
}

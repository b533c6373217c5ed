// Finds a Python for a bridge, which needs `distributed` in the version of the cluster.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder beside `dist/` in the package. */
const PYTHON_PACKAGES = fileURLToPath(new URL('../../python', import.meta.url));

/**
 * Returns the candidates in the order in which to try them.
 *
 * @param named Python from the caller; default: LONGPOLE_PYTHON of the environment. Either is the only candidate
 */
export function pythonCandidates(named?: string): readonly string[] {
  const one = named ?? process.env['LONGPOLE_PYTHON'] ?? '';
  if (one !== '') return [one];
  const own = ['bin/python', 'Scripts/python.exe'].map((file) => join('.venv', file)).filter(existsSync);
  return [...own, 'python3', 'python'];
}

/** Returns the environment of this program with the path of the package of the bridges. */
export function bridgeEnvironment(): NodeJS.ProcessEnv {
  const { PYTHONPATH } = process.env;
  return {
    ...process.env,
    PYTHONPATH: [PYTHON_PACKAGES, ...(PYTHONPATH ? [PYTHONPATH] : [])].join(delimiter),
  };
}

// Which Python runs a bridge: it must have `distributed`, in the version that the cluster has.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Beside `dist/` in the package. */
const PYTHON_PACKAGES = fileURLToPath(new URL('../../python', import.meta.url));

/**
 * Those to try, in this order. One that was named is the only one.
 *
 * @param named what the caller asked for; then the environment's LONGPOLE_PYTHON
 */
export function pythonCandidates(named?: string): readonly string[] {
  const one = named ?? process.env['LONGPOLE_PYTHON'] ?? '';
  if (one !== '') return [one];
  const own = ['bin/python', 'Scripts/python.exe'].map((file) => join('.venv', file)).filter(existsSync);
  return [...own, 'python3', 'python'];
}

/** That of this program, with the package of the bridges. */
export function bridgeEnvironment(): NodeJS.ProcessEnv {
  const { PYTHONPATH } = process.env;
  return {
    ...process.env,
    PYTHONPATH: [PYTHON_PACKAGES, ...(PYTHONPATH ? [PYTHONPATH] : [])].join(delimiter),
  };
}

// Finds the Python for tests with other programs. bench/setup-python.sh installs one.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Finds the modules without loading them, which takes a second of CPU. */
const FINDS =
  'import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1].split(", "))))';

/** Returns a Python with these modules: `LONGPOLE_PYTHON`, the Python of the repository's `.venv`, or the system's. */
export function pythonWith(modules: string): string | undefined {
  const own = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
  const candidates = [process.env['LONGPOLE_PYTHON'] ?? '', own, 'python3'];
  return candidates.find((name) => name !== '' && spawnSync(name, ['-c', FINDS, modules]).status === 0);
}

// Finds the Python for tests with other programs. bench/setup-python.sh installs one.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Returns a Python with this module: `LONGPOLE_PYTHON`, the Python of the repository's `.venv`, or the system's. */
export function pythonWith(module: string): string | undefined {
  const own = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
  const candidates = [process.env['LONGPOLE_PYTHON'] ?? '', own, 'python3'];
  return candidates.find((name) => name !== '' && spawnSync(name, ['-c', `import ${module}`]).status === 0);
}

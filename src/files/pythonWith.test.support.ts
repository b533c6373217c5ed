// The Python that tests of other programs use, if there is one: see bench/setup-python.sh.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A Python that has this module: `LONGPOLE_PYTHON`, that of the repository's `.venv`, or the system's. */
export function pythonWith(module: string): string | undefined {
  const own = fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
  const candidates = [process.env['LONGPOLE_PYTHON'] ?? '', own, 'python3'];
  return candidates.find((name) => name !== '' && spawnSync(name, ['-c', `import ${module}`]).status === 0);
}

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs a JavaScript program in a process of its own, on this terminal, and passes its exit code through; a program
 * that a signal ended gives 1.
 */
export async function runScript(url: URL, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', fileURLToPath(url), ...args], {
    stdio: 'inherit',
  });
  // Ctrl+C reaches the child by itself. This process stays until it has ended, so that the prompt comes back last.
  const forward = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGTERM') child.kill(signal);
  };
  process.on('SIGINT', forward).on('SIGTERM', forward);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGINT', forward).off('SIGTERM', forward);
  }
}

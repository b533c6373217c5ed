// Pages of a dashboard, in a separate process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export class Pages {
  readonly #child: ChildProcess;
  readonly #lines: NodeJS.EventEmitter;

  constructor(link: string) {
    const script = fileURLToPath(new URL('dashboardViewers.js', import.meta.url));
    this.#child = spawn(process.execPath, [script, link], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! });
  }

  /**
   * Opens or closes pages until there are `count`. Resolves when the new ones have received `tasks` tasks, with the
   * bytes received and the CPU seconds used so far.
   */
  async open(count: number, tasks: number): Promise<{ readonly bytes: number; readonly cpu: number }> {
    const line = once(this.#lines, 'line');
    this.#child.stdin?.write(`${count} ${tasks}\n`);
    const [text]: unknown[] = await line;
    const [bytes = 0, seconds = 0] = String(text).split(' ').map(Number);
    return { bytes, cpu: seconds };
  }

  close(): void {
    this.#child.kill();
  }
}

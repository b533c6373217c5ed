// A Python process that runs the samples of all pages, one after the other, because its imports take longer than most samples.
// The samples of a page have common names.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { repositoryPath } from './repository.js';

export class SamplePython {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;

  constructor(python: string) {
    const env = { ...process.env, LONGPOLE_NODE: process.execPath, PYTHONPATH: repositoryPath('python') };
    this.#process = spawn(python, [repositoryPath('test/support/samplePython.py')], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Runs a sample in the folder of its page. Returns what it prints. */
  async run(text: string, folder: string): Promise<string> {
    this.#process.stdin.write(`${JSON.stringify({ text, folder })}\n`);
    const answer = await this.#answers.next();
    assert.ok(answer.done !== true, 'Python ended');
    const { output, error }: { output: string; error: string | null } = JSON.parse(answer.value);
    assert.equal(error, null, `${output}${error}`);
    return output;
  }

  /** Lets the process end, after the samples. */
  end(): void {
    this.#process.stdin.end();
  }
}

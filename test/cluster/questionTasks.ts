// Tasks that ask the scheduler's process.
import { writeFileSync } from 'node:fs';
import { secede, tasks } from 'longpole';

/** Not exported by the package. */
const MODULE = new URL('../../../dist/engine/worker/askScheduler.js', import.meta.url).href;

async function ask(): Promise<unknown> {
  const { askScheduler } = await import(MODULE);
  return askScheduler('cluster', null);
}

export const { askCluster, leaveQuestion, noteEnd } = tasks(import.meta.url, {
  askCluster() {
    return ask();
  },
  /**
   * Writes the code of the error with which a question ends to a file. A seceded task may do so after it was cancelled: its
   * isolate is not ended.
   */
  async noteEnd(file: string) {
    await secede();
    try {
      await ask();
    } catch (error) {
      writeFileSync(file, error instanceof Error && 'code' in error ? String(error.code) : 'no code');
      throw error;
    }
  },
  /** Leaves a question behind that is asked after the end of the task. */
  leaveQuestion(file: string) {
    setImmediate(() => {
      ask().catch((error) => writeFileSync(file, String(error.code)));
    });
  },
});

// Handles modules that end their process when they are imported, for example a program that lacks an argument.
// Otherwise one isolate after the other would end, and no message would name the module.
import { LongpoleError } from '../../base/errors.js';
import { taskContext } from './taskContext.js';

/** Number of imports in progress. */
let imports = 0;
let isPatched = false;

/** Makes `process.exit()` throw during an import. Tasks may still end their worker. */
export async function forbidExitDuring(work: () => Promise<unknown>): Promise<void> {
  patch();
  imports++;
  try {
    await work();
  } finally {
    imports--;
  }
}

function patch(): void {
  if (isPatched) return;
  isPatched = true;
  const { exit } = process;
  process.exit = (code) => {
    if (imports === 0 || taskContext.running) return exit.call(process, code);
    throw new LongpoleError(
      'ERR_LONGPOLE_MODULE_TASK',
      `process.exit(${code ?? ''}) was called while a worker imported the module of a task. Workers import that module to find ` +
        'the task, and run the code before its first awaited result. Put tasks into a separate module',
    );
  };
}

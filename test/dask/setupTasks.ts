// Tasks for the tests of a cluster that Dask's commands started.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tasks } from 'longpole';

export const { meet, imported } = tasks(import.meta.url, {
  /** Returns the id of the parent process when the task with the other name has begun, too. */
  meet: async (folder: string, own: string, other: string): Promise<number> => {
    writeFileSync(join(folder, own), '');
    while (!existsSync(join(folder, other))) await new Promise((resolve) => setTimeout(resolve, 20));
    return process.ppid;
  },
  /** Imports a package that only the workers have. */
  imported: async (): Promise<unknown> => {
    // @ts-expect-error There is no such package for the compiler.
    const found: { readonly answer: unknown } = await import('only-on-workers');
    return found.answer;
  },
});

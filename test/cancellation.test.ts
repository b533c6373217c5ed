// Aborted runs, also with tasks that never end: the run ends at once, and the next run works.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { literal } from 'longpole';
import { packageUrl, runProgram, withFolder } from './support/programs.js';
import { PARALLEL } from './support/schedulers.js';

const inc = (x: number): number => x + 1;
const spin = (): never => {
  for (;;);
};
const never = (): Promise<never> => new Promise(() => undefined);

for (const { name, get } of PARALLEL) {
  for (const [what, endless] of [
    ['computes for ever', spin],
    ['waits for ever', never],
  ] as const) {
    test(`${name}: a signal cancels a task that ${what}, and its worker is replaced`, async () => {
      const controller = new AbortController();
      const reason = new Error('changed my mind');
      const started: string[] = [];
      const pretask = (key: string): void => {
        started.push(key);
        if (key === 'endless') controller.abort(reason);
      };
      const run = get({ a: [inc, 1], endless: [endless, 'a'] }, 'endless', {
        signal: controller.signal,
        callbacks: { pretask },
      });
      await assert.rejects(run, { code: 'ERR_LONGPOLE_ABORTED', name: 'AbortError', cause: reason });
      assert.deepEqual(started, ['a', 'endless']);
      const graph: Record<string, unknown> = {};
      for (let i = 0; i < 100; i++) graph[`t${i}`] = [inc, i];
      assert.deepEqual(
        await get(graph, Object.keys(graph)),
        Array.from({ length: 100 }, (_unused, i) => i + 1),
      );
    });
  }

  test(`${name}: a program ends after a callback has cancelled its computation`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { ${name} } from ${JSON.stringify(packageUrl('local'))};
        const abort = new AbortController();
        const callbacks = { pretask: () => abort.abort() };
        const never = () => new Promise(() => undefined);
        const options = { numWorkers: 1, signal: abort.signal, callbacks };
        await ${name}({ a: [never], b: [never] }, ['a', 'b'], options).catch((error) => console.log(error.code));
      `;
      const { stdout, code } = await runProgram(folder, source);
      assert.deepEqual([stdout, code], ['ERR_LONGPOLE_ABORTED\n', 0]);
    });
  });

  test(`${name}: a worker that is blocked in a native call does not delay the next run`, async () => {
    await withFolder(async (folder) => {
      const started = join(folder, 'started');
      // The shell waits until the file is removed. JavaScript cannot interrupt this call.
      const native = async (path: string): Promise<void> => {
        const { execSync } = await import('node:child_process');
        execSync(`touch ${path}; while [ -e ${path} ]; do sleep 0.05; done`);
      };
      const controller = new AbortController();
      const { rmSync, watch } = await import('node:fs');
      const watcher = watch(folder, () => existsSync(started) && controller.abort());
      const graph = { a: [native, literal(started)] };
      try {
        await assert.rejects(get(graph, 'a', { numWorkers: 1, signal: controller.signal }), {
          code: 'ERR_LONGPOLE_ABORTED',
        });
        assert.equal(await get({ a: [inc, 1] }, 'a', { numWorkers: 1 }), 2);
        assert.ok(existsSync(started));
      } finally {
        watcher.close();
        rmSync(started, { force: true });
      }
    });
  });

  test(`${name}: no task starts if the signal is already aborted`, async () => {
    const started: string[] = [];
    const callbacks = { pretask: (key: string): void => void started.push(key) };
    await assert.rejects(get({ a: [inc, 1] }, 'a', { signal: AbortSignal.abort(), callbacks }), {
      code: 'ERR_LONGPOLE_ABORTED',
    });
    assert.deepEqual(started, []);
  });
}

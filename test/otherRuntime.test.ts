// Programs under a runtime that is not Node get one clear sentence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from './support/programs.js';

test('under Bun, computations on workers are rejected with the advice to use Node', async () => {
  await withFolder(async (folder) => {
    const source = `
      Object.defineProperty(process, 'versions', { value: { ...process.versions, bun: '1.4.5' } });
      const { compute, connect, delayed } = await import(${JSON.stringify(packageUrl('index'))});
      const one = delayed(() => 1)();
      console.log(...await compute(one, { scheduler: 'sync' }));
      for (const call of [() => compute(one), () => compute(one, { scheduler: 'processes' }), () => connect()])
        await call().catch(({ code, message }) => console.log(code, message));
    `;
    const { stdout } = await runProgram(folder, source);
    const refusal =
      'ERR_LONGPOLE_INSTALLATION Longpole cannot start workers under Bun 1.4.5. Run the program with Node 20.19 or newer.\n';
    assert.equal(stdout, `1\n${refusal.repeat(3)}`);
  });
});

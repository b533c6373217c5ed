// Rounds for the test of the soak. Each round does what its name says.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Round } from '../../soak/round.js';

export const ROUNDS: readonly Round[] = [
  {
    name: 'fails',
    checks: 'It fails in the middle.',
    run: async (context) => {
      context.doing('step two');
      context.count('inputs', 3);
      assert.fail('as it should');
    },
  },
  {
    name: 'passes',
    checks: 'It passes.',
    run: async (context) => {
      context.count('inputs', 4);
      context.count('kills');
      await context.timed('nothing', async () => undefined);
    },
  },
  {
    name: 'leaves',
    checks: 'It leaves a file and a process behind.',
    run: async (context) => {
      writeFileSync(join(tmpdir(), 'forgotten'), '');
      writeFileSync(join(context.folder, 'removed'), '');
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'orphan'], {
        detached: true,
        stdio: 'ignore',
      }).unref();
      context.fail(new Error('and continues'));
    },
  },
  {
    name: 'hangs',
    checks: 'It never ends.',
    limit: 2,
    run: async (context) => {
      context.doing('an endless loop');
      for (;;);
    },
  },
  {
    name: 'exits',
    checks: 'It ends its program.',
    run: async () => process.exit(3),
  },
];

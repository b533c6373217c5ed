import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DRAIN_MS, sendOrEnd, whenEnded } from './childChannel.js';

const MESSAGES = 40;
const LIMIT = { timeout: 300_000 };

/** A process that waits for a file, sends many messages, and is killed when all have been handed to the system. */
const TALKER = `
  const { existsSync } = require('node:fs');
  const timer = setInterval(() => {
    if (!existsSync(process.argv[2])) return;
    clearInterval(timer);
    let open = ${MESSAGES};
    for (let i = 0; i < ${MESSAGES}; i++)
      process.send('x'.repeat(1000) + i, () => {
        if (--open === 0) process.kill(process.pid, 'SIGKILL');
      });
  }, 5);
`;
/** A process that sends one message and ends. */
const PASSER = `process.send('gone', () => process.exit());`;

/** A process that closes its end of the channel and continues. */
const DEAF = `process.disconnect(); setInterval(() => undefined, 1000);`;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the number of messages of the talker that arrive before its end is reported. `onExit` is called at Node's
 * exit event.
 */
async function receivedOfTalker(onExit: () => void): Promise<number> {
  let received = 0;
  await inFolder(async (folder) => {
    const start = (name: string, program: string, args: string[] = []) => {
      writeFileSync(join(folder, name), program);
      return fork(join(folder, name), args);
    };
    const going = join(folder, 'going');
    const talker = start('talker.cjs', TALKER, [going]);
    const passer = start('passer.cjs', PASSER);
    talker.on('message', () => {
      received++;
    });
    const cause = new Promise<Error>((resolve) => whenEnded(talker, resolve));
    talker.once('exit', onExit);
    // While the event loop handles the end of the passer, the talker ends, and Node reports both in the same turn.
    passer.on('message', () => {
      writeFileSync(going, '');
      blockUntilEnded(talker.pid);
    });
    blockUntilEnded(passer.pid);
    assert.match((await cause).message, /by signal SIGKILL/);
  });
  return received;
}

test('messages of a killed process are received before its end is reported', LIMIT, async () => {
  assert.equal(await receivedOfTalker(() => undefined), MESSAGES);
});

test(
  'the messages are received even if this thread is blocked after the process has ended',
  LIMIT,
  async () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    assert.equal(await receivedOfTalker(() => Atomics.wait(cell, 0, 0, DRAIN_MS + 100)), MESSAGES);
  },
);

/** Blocks this thread until the process has ended or is a zombie. */
function blockUntilEnded(pid: number | undefined): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (isRunning(pid)) Atomics.wait(cell, 0, 0, 5);
}

function isRunning(pid: number | undefined): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

test('a process that cannot be started is reported as ended', async () => {
  await inFolder(async (folder) => {
    const child = fork(join(folder, 'nothing.cjs'), { execPath: join(folder, 'no-such-program') });
    const cause = await new Promise<Error>((resolve) => whenEnded(child, resolve));
    assert.match(cause.message, /ENOENT/);
  });
});

test('the next message to a process with a closed channel ends the process', LIMIT, () =>
  inFolder(async (folder) => {
    const path = join(folder, 'deaf.cjs');
    writeFileSync(path, DEAF);
    const child = fork(path);
    const ended = new Promise<Error>((resolve) => whenEnded(child, resolve));
    await once(child, 'disconnect');
    assert.equal(child.exitCode ?? child.signalCode, null);
    sendOrEnd(child, 'hello');
    assert.match((await ended).message, /by signal SIGKILL/);
  }),
);

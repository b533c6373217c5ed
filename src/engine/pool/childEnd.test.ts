import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DRAIN_MS, sendOrEnd, whenEnded } from './childEnd.js';

const MESSAGES = 40;
const LIMIT = { timeout: 60_000 };

/** A process that, once this file is there, says much and is killed when all of it is on its way. */
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
/** One that says something and ends. */
const PASSER = `process.send('gone', () => process.exit());`;

/** One that closes its end of the channel and lives on. */
const DEAF = `process.disconnect(); setInterval(() => undefined, 1000);`;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The messages that a talker has sent, received when its end is told; `onExit` is called when Node tells of it. */
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
    // One look of the event loop sees the end of the passer; while it is at it, the talker ends, and Node tells of both.
    passer.on('message', () => {
      writeFileSync(going, '');
      blockUntilEnded(talker.pid);
    });
    blockUntilEnded(passer.pid);
    assert.match((await cause).message, /by signal SIGKILL/);
  });
  return received;
}

test('what a process said before it was killed is received before its end is told', LIMIT, async () => {
  assert.equal(await receivedOfTalker(() => undefined), MESSAGES);
});

test('it is received also if this thread stands still after the process has ended', LIMIT, async () => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  assert.equal(await receivedOfTalker(() => Atomics.wait(cell, 0, 0, DRAIN_MS + 100)), MESSAGES);
});

/** Keeps this thread busy until the process is gone, or waits for its parent to look at how it ended. */
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

test('a process that the system refuses to start has ended', async () => {
  await inFolder(async (folder) => {
    const child = fork(join(folder, 'nothing.cjs'), { execPath: join(folder, 'no-such-program') });
    const cause = await new Promise<Error>((resolve) => whenEnded(child, resolve));
    assert.match(cause.message, /ENOENT/);
  });
});

test('a process whose channel is gone is ended by the next message', LIMIT, () =>
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

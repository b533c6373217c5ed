import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LongpoleError } from '../../base/errors.js';
import { PYTHON_SOCKET_VARIABLE } from '../../protocol/remoteProcess.js';
import { PythonCall } from './pythonCall.js';
import { type MessageHead, readMessages } from './pythonMessages.js';

interface Head extends MessageHead {
  readonly key: string | null;
}

it('a call fails if its process cannot connect to the Dask worker, and cannot ask it', async () => {
  process.env[PYTHON_SOCKET_VARIABLE] = `7:${process.execPath}/python`;
  try {
    await assert.rejects(
      Promise.resolve(new PythonCall('module:function', [])),
      ({ code, cause }: LongpoleError) =>
        code === 'ERR_LONGPOLE_DASK_BRIDGE' && /ENOTDIR/.test(String(cause)),
    );
  } finally {
    delete process.env[PYTHON_SOCKET_VARIABLE];
  }
});

describe('a call whose connection is closed without an answer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-test-'));
  const server = createServer();
  let failed: Promise<unknown>;

  /** Returns the next connection and the key in its first message. */
  async function connection(): Promise<{ readonly socket: Socket; readonly key: string | null | undefined }> {
    const [socket]: Socket[] = await once(server, 'connection');
    assert.ok(socket !== undefined);
    const { value } = await readMessages<Head>(socket.iterator({ destroyOnReturn: false })).next();
    return { socket, key: value?.head.key };
  }

  beforeEach(async () => {
    server.listen(join(folder, 'python'));
    await once(server, 'listening');
    process.env[PYTHON_SOCKET_VARIABLE] = `7:${join(folder, 'python')}`;
    failed = Promise.resolve(new PythonCall('module:function', [])).catch((error: unknown) => error);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => {
    server.close();
    delete process.env[PYTHON_SOCKET_VARIABLE];
  });

  it('fails if the Dask worker lives', async () => {
    const call = await connection();
    assert.equal(call.key, 'module:function');
    call.socket.destroy();
    const question = await connection();
    assert.equal(question.key, null);
    question.socket.end('\n');
    const error = await failed;
    assert.ok(error instanceof LongpoleError);
    assert.equal(error.code, 'ERR_LONGPOLE_DASK_BRIDGE');
    assert.match(error.message, /module:function.*log of the worker/);
  });

  it('does not fail if the Dask worker has ended, because the task runs again elsewhere', async () => {
    const call = await connection();
    call.socket.destroy();
    const question = await connection();
    question.socket.destroy();
    await once(question.socket, 'close');
    const later = async (): Promise<string> => {
      for (let turn = 0; turn < 10; turn++) await setImmediate();
      return 'pending';
    };
    assert.equal(await Promise.race([failed, later()]), 'pending');
  });
});

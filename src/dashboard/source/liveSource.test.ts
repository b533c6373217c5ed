import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeViewMessage, VIEW_VERSION } from '../../protocol/viewMessages.js';
import { LiveSource } from './liveSource.js';

/** A connection whose messages and end the test gives. */
class ScriptedSocket {
  static readonly OPEN = 1;
  static readonly all: ScriptedSocket[] = [];
  readonly readyState = 0;
  onmessage: (event: { data: string }) => void = () => {};
  onclose: (event: { code: number; reason: string }) => void = () => {};

  constructor() {
    ScriptedSocket.all.push(this);
  }

  /** The server begins to send, e.g. the rows of the run `epoch`. */
  begin(epoch: string, resumed: boolean): void {
    const about = { title: '', facts: {}, damage: null };
    const begin = { type: 'begin', version: VIEW_VERSION, source: 'live', epoch, resumed, ...about } as const;
    this.onmessage({ data: encodeViewMessage(begin) });
  }

  close(): void {}
}

test('a page begins anew if another program answers at the same address, and continues the same program', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  Object.defineProperty(globalThis, 'document', { value: page, configurable: true });
  Object.defineProperty(globalThis, 'WebSocket', { value: ScriptedSocket, configurable: true });
  const reports: string[] = [];
  const source = new LiveSource('http://127.0.0.1:8787/');
  source.start({
    update: () => reports.push('update'),
    status: (status) => reports.push(status),
    restart: () => reports.push('restart'),
    fail: (error) => assert.fail(String(error)),
  });
  const reconnect = (): void => {
    ScriptedSocket.all.at(-1)?.onclose({ code: 1006, reason: '' });
    t.mock.timers.tick(10_000);
  };
  ScriptedSocket.all.at(-1)?.begin('first', false);
  reconnect();
  ScriptedSocket.all.at(-1)?.begin('first', true);
  reconnect();
  ScriptedSocket.all.at(-1)?.begin('second', false);
  assert.deepEqual(reports, ['loading', 'live', 'lost', 'live', 'lost', 'restart', 'live']);
  source.close();
});

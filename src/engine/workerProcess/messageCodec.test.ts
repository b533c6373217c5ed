import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeMessage, MessageDecoder } from './messageCodec.js';

describe('messages in a byte stream', () => {
  const messages = [
    { type: 'end' },
    { ids: Int32Array.of(1, 2, 3), text: 'ä' },
    new Map([[1n, new Set(['x'])]]),
  ];
  const bytes = Buffer.concat(messages.map(encodeMessage));

  it('are decoded from chunks of any size', () => {
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const decoder = new MessageDecoder();
      const received: unknown[] = [];
      for (let at = 0; at < bytes.length; at += size)
        for (const { message } of decoder.push(bytes.subarray(at, at + size))) received.push(message);
      assert.deepEqual(received, messages, `chunks of ${size}`);
    }
  });
});

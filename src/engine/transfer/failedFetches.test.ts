import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failedFetches } from './failedFetches.js';

describe('results that could not be fetched', () => {
  it('are reported once for a lost peer, with their number', ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const texts: string[] = [];
    const failed = failedFetches((topic, text) => texts.push(`${topic}: ${text}`));
    for (let fetch = 0; fetch < 16; fetch++) failed('a', 2, new Error('It has closed the connection.'));
    failed('b', 1, new Error('It is silent.'));
    mock.timers.tick(1000);
    assert.deepEqual(texts, [
      'peer: It has closed the connection. Number of results: 32.',
      'peer: It is silent. Number of results: 1.',
    ]);
    failed('a', 1, new Error('It is gone.'));
    mock.timers.tick(1000);
    assert.deepEqual(texts.slice(2), ['peer: It is gone. Number of results: 1.']);
  });
});

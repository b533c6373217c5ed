import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hasher } from './hash.js';

function digestOf(feed: (hasher: Hasher) => void): string {
  const hasher = new Hasher();
  feed(hasher);
  return hasher.digest();
}

test('a digest is 32 hexadecimal digits and begins with a decimal digit', () => {
  for (let value = 0; value < 1000; value++)
    assert.match(
      digestOf((hasher) => hasher.word(value)),
      /^[0-7][0-9a-f]{31}$/,
    );
});

test('equal words give equal digests, and another number of words gives another digest', () => {
  const feed = (count: number) => (hasher: Hasher) => {
    for (let index = 0; index < count; index++) hasher.word(0);
  };
  assert.equal(digestOf(feed(3)), digestOf(feed(3)));
  assert.equal(new Set([0, 1, 2, 3, 4, 5].map((count) => digestOf(feed(count)))).size, 6);
});

test('every bit of the digest changes in about half of the cases when one bit of the input changes', () => {
  const bits = (digest: string): number[] =>
    Array.from(digest, (digit) => Number.parseInt(digit, 16)).flatMap((nibble) =>
      [8, 4, 2, 1].map((bit) => Number((nibble & bit) > 0)),
    );
  const trials = 2000;
  const changes = new Array<number>(128).fill(0);
  for (let trial = 0; trial < trials; trial++) {
    const position = trial % 5;
    const mask = 1 << (trial % 32);
    const feed = (flip: number) => (hasher: Hasher) => {
      for (let index = 0; index < 5; index++)
        hasher.word((trial * 7919 + index) ^ (index === position ? flip : 0));
    };
    const a = bits(digestOf(feed(0)));
    const b = bits(digestOf(feed(mask)));
    a.forEach((bit, index) => {
      if (bit !== b[index]) changes[index]!++;
    });
  }
  assert.equal(changes[0], 0, 'the first bit is always 0');
  for (const count of changes.slice(1))
    assert.ok(Math.abs(count / trials - 0.5) < 0.06, `changed ${count} of ${trials}`);
});

test('every character of a text and every byte of a buffer changes the digest', () => {
  const digests = ['', 'a', 'ab', 'abc', 'abcd', 'abce', 'acbd'].map((text) =>
    digestOf((hasher) => hasher.text(text)),
  );
  assert.equal(new Set(digests).size, digests.length);
  const buffers = [[], [0], [0, 0], [1, 2, 3, 4], [1, 2, 3, 4, 0], [1, 2, 3, 4, 5]].map((bytes) =>
    digestOf((hasher) => hasher.bytes(new Uint8Array(bytes))),
  );
  assert.equal(new Set(buffers).size, buffers.length);
});

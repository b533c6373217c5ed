// Errors of a program remain visible when its client closes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';

/** A program with one pending call of each kind. */
const PENDING = `
  import { compute, connect, delayed } from ${JSON.stringify(packageUrl('index'))};
  const never = () => new Promise(() => setInterval(() => undefined, 1e6));
  const client = await connect({ workers: 1 });
  const future = client.submit(never);
  const pending = [
    future.result(),
    client.gather([future]),
    client.compute(delayed(never)()),
    client.get({ a: [never] }, 'a'),
    compute(delayed(never)()),
    delayed(never)().compute(),
  ];
`;

test('an error of the program is printed although its client closes with pending calls', async () => {
  await withFolder(async (folder) => {
    const { code, stderr } = await runProgram(
      folder,
      `${PENDING}
      try {
        JSON.parse('{mistake');
      } finally {
        await client.close();
      }`,
    );
    assert.match(stderr, /SyntaxError/);
    assert.doesNotMatch(stderr, /ERR_LONGPOLE/);
    assert.equal(code, 1);
  });
});

test('pending calls reject when their client closes, and their errors name the closed client or cluster', async () => {
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await runProgram(
      folder,
      `${PENDING}
      const ends = Promise.allSettled(pending);
      await client.close();
      for (const { status, reason } of await ends) console.log(status, reason.code, reason.message.slice(0, 22));`,
    );
    assert.equal(stderr, '');
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 6);
    for (const line of lines)
      assert.match(line, /^rejected ERR_LONGPOLE_FUTURE The (client|cluster) was closed/);
    assert.equal(code, 0);
  });
});

test('the failure of a task ends the program if the program does not handle the failure', async () => {
  await withFolder(async (folder) => {
    const source = `
      import { connect } from ${JSON.stringify(packageUrl('index'))};
      const client = await connect({ workers: 1 });
      client.submit(() => { throw new Error('boom'); }).result();
      await new Promise(() => setInterval(() => undefined, 1e6));
    `;
    const { code, stderr } = await runProgram(folder, source);
    assert.match(stderr, /boom/);
    assert.equal(code, 1);
  });
});

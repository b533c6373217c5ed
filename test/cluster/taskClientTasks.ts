// Tasks that use the client of their cluster.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asCompleted, compute, delayed, Event, getClient, progress, tasks, wait } from 'longpole';

async function gate(folder: string, name: string): Promise<void> {
  writeFileSync(join(folder, `${name}.started`), '');
  while (!existsSync(join(folder, `${name}.open`))) await new Promise((resolve) => setTimeout(resolve, 2));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

export const inner = tasks(import.meta.url, {
  inc: (x: number) => x + 1,
  echo: (value: unknown) => value,
  add: (a: number, b: number) => a + b,
  zeros: (length: number, value: number) => new Float64Array(length).fill(value),
  total: (values: Float64Array) => values.reduce((sum, value) => sum + value, 0),
  fail: (message: string): never => {
    throw Object.assign(new RangeError(message), { code: 'FAR' });
  },
  hold: async (folder: string, name: string) => {
    await gate(folder, name);
    writeFileSync(join(folder, `${name}.ended`), '');
    return name;
  },
  once: (path: string) => {
    const calls = existsSync(path) ? readFileSync(path, 'utf8').length + 1 : 1;
    writeFileSync(path, 'x'.repeat(calls));
    return calls;
  },
});

export const outer = tasks(import.meta.url, {
  /** Leaves a submission behind, after a call that it does not await. */
  submits(path: string) {
    void new Event('progress').set();
    getClient().submit(inner.once, path);
  },
  async fib(n: number): Promise<number> {
    if (n < 2) return n;
    const client = getClient();
    const parts = client.map(outer.fib, [n - 1, n - 2]);
    const [a = 0, b = 0] = await client.gather(parts);
    return a + b;
  },
  /** Returns the codes of the errors with which calls throw. */
  otherCalls(names: readonly string[]) {
    return names.map((name) => {
      try {
        const call: unknown = Reflect.get(getClient(), name);
        return typeof call === 'function' ? Reflect.apply(call, getClient(), []) : call;
      } catch (error) {
        return codeOf(error);
      }
    });
  },
  /** Throws the messages of calls with values that cannot be copied. */
  async sharesFunctions() {
    const client = getClient();
    const symbol: unknown = Symbol('x');
    const calls = [client.scatter(symbol), client.submit(inner.echo, symbol).result()];
    const ends = await Promise.allSettled(calls);
    throw new Error(ends.map((end) => (end.status === 'rejected' ? String(end.reason) : '')).join('\n'));
  },
  /** Each form of a call. */
  async forms() {
    const client = getClient();
    const one = client.submit(inner.inc, 0);
    const two = client.submit(inner.add, one, client.submit(inner.inc, 0));
    const large = client.submit(inner.zeros, 10_000, 2);
    const text = client.submit((word: string) => word.toUpperCase(), 'text');
    const [first] = await client.scatter([3]);
    const [second] = await client.scatter([new Float64Array(5000).fill(1)], { broadcast: true });
    const single = await client.scatter({ x: 7 });
    return {
      one: await one,
      two: await two.result(),
      map: await client.gather(client.map(inner.inc, [1, 2, 3], { retries: 1 })),
      nested: await client.gather({ a: [one, { b: two }], c: 5 }),
      large: await client.submit(inner.total, large),
      length: (await large).length,
      text: await text,
      scattered: await client.submit(inner.add, first!, one),
      broadcast: await client.submit(inner.total, second!),
      single: await single.result(),
      compute: await client.compute(inner.inc(inner.inc(one))),
      several: await client.compute(inner.inc(1), inner.inc(2)),
      persist: await client.persist(inner.add(large.key.length > 0 ? 1 : 0, two)),
      get: await client.get({ x: 1, y: [(a: number) => a + 1, 'x'], z: [(a: number) => 2 * a, 'y'] }, [
        'z',
        ['x'],
      ]),
      status: [one.status, two.done, one.key.startsWith('inc-'), String(client)],
    };
  },
  async computes() {
    const double = delayed((x: number) => 2 * x, { name: 'double' });
    return [
      await compute(inner.inc(1), double(2)),
      await inner.inc(inner.inc(1)).compute(),
      await double(4).persist(),
    ];
  },
  async errors() {
    const client = getClient();
    const failing = client.submit(inner.fail, 'too far');
    const error = await failing.exception();
    const codes: unknown[] = [];
    const note = (reason: unknown): void => void codes.push(codeOf(reason));
    await client.gather([failing]).catch(note);
    await client.submit(inner.inc, failing).result().catch(note);
    const factor = 3;
    await client
      .submit((x: number) => factor * x, 1)
      .result()
      .catch(note);
    await client.submit(inner.echo, Symbol('x')).result().catch(note);
    const released = client.submit(inner.inc, 1);
    released.release();
    await released.result().catch(note);
    const cancelled = client.submit(inner.inc, 1);
    cancelled.cancel();
    await cancelled.result().catch(note);
    const skipped = await client.gather([failing, client.submit(inner.inc, 1)], { errors: 'skip' });
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    return {
      name: error instanceof Error ? error.name : '',
      code: codeOf(error),
      cause: codeOf(cause),
      codes,
      skipped,
    };
  },
  async waits(folder: string) {
    const client = getClient();
    const held = client.submit(inner.hold, folder, 'held');
    const quick = client.submit(inner.inc, 1);
    const { done, notDone } = await wait([held, quick], { returnWhen: 'first' });
    const counts = [done.length, notDone.length, done[0] === quick];
    writeFileSync(join(folder, 'held.open'), '');
    const values: unknown[] = [];
    for await (const [, value] of asCompleted([held, quick], { withResults: true })) values.push(value);
    return [counts, values.sort()];
  },
  /** Submits a task that waits for the gate, and waits for its result. */
  /** Returns the shares that a progress bar shows while the second of two tasks has not ended. */
  async showsProgress(folder: string) {
    const client = getClient();
    const futures = [client.submit(inner.echo, ''), client.submit(inner.hold, folder, 'shown')];
    const shares = new Set<string>();
    const write = (text: string): boolean => {
      for (const share of text.match(/\d+%/g) ?? []) shares.add(share);
      if (shares.has('50%')) writeFileSync(join(folder, 'shown.open'), '');
      return true;
    };
    await progress(futures, { out: { write }, dt: 0.01 });
    return [...shares];
  },
  async waitFor(folder: string, name: string) {
    return `${await getClient().submit(inner.hold, folder, name, { workers: 'worker-1' })} again`;
  },
  /** Submits a task and does not wait for its result. */
  leaveWork(folder: string, name: string) {
    void getClient().submit(inner.hold, folder, name);
  },
  async returnFuture() {
    return [getClient().submit(inner.inc, 1)];
  },
  async pureTwice(path: string) {
    const client = getClient();
    const one = client.submit(inner.once, path, { pure: true });
    await one;
    return [await one, await client.submit(inner.once, path, { pure: true })];
  },
});

// Large runs: results that no task needs are released during the run, and deep graphs do not overflow the stack. The soak
// compares the memory of such runs with limits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from './support/programs.js';
import { PARALLEL } from './support/schedulers.js';

for (const { name } of PARALLEL) {
  test(`${name}: large arrays are released as soon as no task needs them`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { ${name} } from ${JSON.stringify(packageUrl('local'))};
        // The second number identifies the isolate that created the array.
        const make = (x) => new Float64Array(1e5).fill(x).fill((globalThis.own ??= Math.random()), 1, 2);
        const add = (a, b) => {
          globalThis.own ??= Math.random();
          for (const one of [a, b]) if (one[1] === globalThis.own) (globalThis.used ??= []).push(new WeakRef(one));
          return new Float64Array(a.length).fill(a[0] + b[0]).fill(globalThis.own, 1, 2);
        };
        // Ends when its isolate has released all arrays that it has created and used.
        const first = async (a) => {
          for (;;) {
            await new Promise((resolve) => setImmediate(resolve));
            globalThis.gc();
            if ((globalThis.used ?? []).every((one) => one.deref() === undefined)) return a[0];
          }
        };
        const graph = {};
        let level = [];
        for (let i = 0; i < 64; i++) { graph['m' + i] = [make, i]; level.push('m' + i); }
        for (let depth = 0; level.length > 1; depth++) {
          const next = [];
          for (let i = 0; i < level.length; i += 2) {
            graph['a' + depth + '-' + i] = [add, level[i], level[i + 1]];
            next.push('a' + depth + '-' + i);
          }
          level = next;
        }
        graph.total = [first, level[0]];
        console.log(await ${name}(graph, 'total', { numWorkers: 2 }));
      `;
      const { stdout, stderr } = await runProgram(folder, source, { nodeArguments: ['--expose-gc'] });
      assert.equal(stdout, `${(63 * 64) / 2}\n`, stderr);
    });
  });
}

test('getThreaded: a chain and a tree of 100,000 tasks do not overflow the stack', async () => {
  const source = `
    import { getThreaded } from ${JSON.stringify(packageUrl('local'))};
    const inc = (x) => x + 1;
    const sum = (xs) => { let total = 0; for (const x of xs) total += x; return total; };
    const chain = { c0: [inc, 0] };
    for (let i = 1; i < 100_000; i++) chain['c' + i] = [inc, 'c' + (i - 1)];
    console.log(await getThreaded(chain, 'c99999', { numWorkers: 2 }));
    const tree = {};
    let level = [];
    for (let i = 0; i < 93_750; i++) { tree['i' + i] = [inc, i]; level.push('i' + i); }
    for (let depth = 0; level.length > 1; depth++) {
      const next = [];
      for (let i = 0; i < level.length; i += 16) {
        tree['s' + depth + '-' + i] = [sum, level.slice(i, i + 16)];
        next.push('s' + depth + '-' + i);
      }
      level = next;
    }
    console.log(await getThreaded(tree, level[0], { numWorkers: 2 }));
  `;
  await withFolder(async (folder) => {
    const { stdout, stderr } = await runProgram(folder, source);
    assert.equal(stdout, `100000\n${(93_750 * 93_751) / 2}\n`, stderr);
  });
});

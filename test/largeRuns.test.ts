// What large runs take: programs whose arrays or tasks are many stay small.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageUrl, runProgram, withFolder } from './support/programs.js';
import { PARALLEL } from './support/schedulers.js';

for (const { name } of PARALLEL) {
  test(`${name}: large arrays that nobody needs any more do not pile up`, async () => {
    await withFolder(async (folder) => {
      const source = `
        import { ${name} } from ${JSON.stringify(packageUrl('local'))};
        const make = (x) => new Float64Array(1e6).fill(x);
        const add = (a, b) => { const c = new Float64Array(a.length); c[0] = a[0] + b[0]; return c; };
        const first = (a) => a[0];
        const graph = {};
        let level = [];
        for (let i = 0; i < 256; i++) { graph['m' + i] = [make, i]; level.push('m' + i); }
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
        // 511 arrays of 8 MB are made, 4.1 GB in all; 0.7 to 1.3 GB are there at once, the more the busier the machine is.
        console.log(process.resourceUsage().maxRSS < 2e9 / 1024 ? 'small' : process.resourceUsage().maxRSS + ' KiB');
      `;
      const { stdout, stderr } = await runProgram(folder, source);
      assert.equal(stdout, `${(255 * 256) / 2}\nsmall\n`, stderr);
    });
  });
}

test('getThreaded: a chain and a tree of 1,000,000 tasks stay under 1 GB and off the stack', async () => {
  const head = `
    import { getThreaded } from ${JSON.stringify(packageUrl('local'))};
    const inc = (x) => x + 1;
    const sum = (xs) => { let total = 0; for (const x of xs) total += x; return total; };
    const graph = {};
  `;
  const chain = `
    graph.c0 = [inc, 0];
    for (let i = 1; i < 1_000_000; i++) graph['c' + i] = [inc, 'c' + (i - 1)];
    console.log(await getThreaded(graph, 'c999999', { numWorkers: 2 }));
  `;
  const tree = `
    let level = [];
    for (let i = 0; i < 937_500; i++) { graph['i' + i] = [inc, i]; level.push('i' + i); }
    for (let depth = 0; level.length > 1; depth++) {
      const next = [];
      for (let i = 0; i < level.length; i += 16) {
        graph['s' + depth + '-' + i] = [sum, level.slice(i, i + 16)];
        next.push('s' + depth + '-' + i);
      }
      level = next;
    }
    console.log(await getThreaded(graph, level[0], { numWorkers: 2 }));
  `;
  const tail = `
    console.log(process.resourceUsage().maxRSS < 1e9 / 1024 ? 'small' : 'took ' + process.resourceUsage().maxRSS + ' KiB');
  `;
  await withFolder(async (folder) => {
    const first = await runProgram(folder, head + chain + tail, { seconds: 120 });
    assert.equal(first.stdout, '1000000\nsmall\n', first.stderr);
    const second = await runProgram(folder, head + tree + tail, { seconds: 120 });
    assert.equal(second.stdout, `${(937_500 * 937_501) / 2}\nsmall\n`, second.stderr);
  });
});

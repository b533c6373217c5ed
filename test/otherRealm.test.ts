// A program whose modules run in a separate realm, as tests under Jest do. Errors that Node throws are instances of another
// Error class there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Ended, packageUrl, runProgram, withFolder } from './support/programs.js';

/** Runs a module and the files that it imports in a new realm. Packages and Node's modules stay outside, as with Jest. */
const IN_REALM = `
  import { readFileSync } from 'node:fs';
  import { fileURLToPath } from 'node:url';
  import vm from 'node:vm';
  const context = vm.createContext();
  const own = new Set(vm.runInContext('Object.getOwnPropertyNames(globalThis)', context));
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!own.has(name)) context[name] = globalThis[name];
  // The console of a new context prints nothing.
  context.console = console;
  const modules = new Map();
  const load = (specifier, from) => {
    const url = /^[.]/.test(specifier) ? new URL(specifier, from).href : specifier;
    if (!modules.has(url)) modules.set(url, url.startsWith('file:') ? fileModule(url) : outerModule(url));
    return modules.get(url);
  };
  const fileModule = async (identifier, text = readFileSync(fileURLToPath(identifier), 'utf8')) =>
    new vm.SourceTextModule(text, {
      identifier,
      context,
      initializeImportMeta: (meta) => {
        meta.url = identifier;
        meta.resolve = (specifier) => import.meta.resolve(specifier);
      },
      importModuleDynamically: async (specifier) => evaluated(await load(specifier, identifier)),
    });
  const outerModule = async (specifier) => {
    const outer = await import(specifier);
    const names = Object.keys(outer);
    return new vm.SyntheticModule(names, function () { for (const name of names) this.setExport(name, outer[name]); }, { context });
  };
  const evaluated = async (module) => {
    if (module.status === 'unlinked') await module.link((specifier, { identifier }) => load(specifier, identifier));
    await module.evaluate();
    return module;
  };
  const main = (text) => fileModule(import.meta.url, text).then(evaluated);
`;

async function inRealm(main: string): Promise<Ended> {
  const source = `${IN_REALM} await main(${JSON.stringify(main)});`;
  const nodeArguments = ['--experimental-vm-modules', '--no-warnings'];
  return await withFolder((folder) => runProgram(folder, source, { nodeArguments }));
}

test('a program in a separate realm, as under Jest, computes on threads and on a cluster', async () => {
  const { code, stdout, stderr } = await inRealm(`
      import { connect, delayed } from ${JSON.stringify(packageUrl('index'))};
      const inc = (x) => x + 1;
      const fails = () => { throw new RangeError('no'); };
      console.log(await delayed(inc)(1).compute({ numWorkers: 1 }));
      console.log(await delayed(fails)().compute({ numWorkers: 1 }).catch(({ code, message }) => code + message.slice(-15)));
      const client = await connect({ workers: 1 });
      console.log(await client.submit(inc, 2).result());
      console.log(await client.submit(inc, Symbol('s')).result().catch(({ code }) => code));
      await client.close();
  `);
  assert.equal(stdout, '2\nERR_LONGPOLE_TASK RangeError: no\n3\nERR_LONGPOLE_NOT_CLONEABLE\n', stderr);
  assert.equal(code, 0, stderr);
});

test('graphs, options and futures in objects, Maps, Sets and promises of a separate realm have their meaning', async () => {
  const { code, stdout, stderr } = await inRealm(`
      import { connect } from ${JSON.stringify(packageUrl('index'))};
      import { getSync, getThreaded } from ${JSON.stringify(packageUrl('local'))};
      const inc = (x) => x + 1;
      const results = ({ plain, map, set }) => [plain.a, map.get('a'), ...set].join();
      console.log(getSync({ a: 1, b: [inc, 'a'] }, 'b'), await getThreaded(new Map([['a', 1], ['b', [inc, 'a']]]), 'b'));
      const client = await connect({ workers: 1, profile: false });
      const future = client.submit(inc, 2, { pure: false });
      const held = { plain: { a: future }, map: new Map([['a', future]]), set: new Set([future]) };
      console.log(await client.submit(results, held).result());
      console.log(results(await client.gather(held)), (await client.gather([Promise.resolve(future)])).join());
      const content = () => [new Date(5), /a/g, new Map([[1, new Set([2])]]), new Uint8Array([3]).buffer];
      const [key, same] = [0, 1].map(() => client.submit(String, content(), { pure: true }).key);
      console.log(key === same, key === client.submit(String, [new Date(6)], { pure: true }).key);
      await client.close();
  `);
  assert.equal(stdout, '2 2\n3,3,3\n3,3,3 3\ntrue false\n', stderr);
  assert.equal(code, 0, stderr);
});

// Program for python/longpole_dask/function.py. Writes a module as one file to its output, or why it cannot, to its error
// output. The arguments are the file of the module, and the name of the function that it must export.
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, extname } from 'node:path';
import { messageOf } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { bundleFunctions, type FunctionBundle } from './moduleBundle.js';

/** Exit code if the module has no such function. */
const NO_FUNCTION = 2;
const NO_BUNDLER =
  'no esbuild is installed here, with which Longpole bundles modules. Install it in the folder of the module ' +
  '(npm install esbuild), or name a module in JavaScript without imports.';

/** Returns a module that needs no bundler. */
async function moduleAlone(file: string): Promise<FunctionBundle> {
  if (!/^\.[cm]?js$/.test(extname(file)))
    throw new Error(`${basename(file)} is no module in JavaScript, and ${NO_BUNDLER}`);
  const text = await readFile(file, 'utf8');
  const { body } = loadPackage('acorn').parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  if (!body.some(({ type }) => /^(Import|Export)/.test(type)))
    throw new Error(`${basename(file)} is no ES module, and ${NO_BUNDLER}`);
  for (const statement of body) {
    const source = 'source' in statement ? statement.source?.value : undefined;
    if (typeof source === 'string' && !isBuiltin(source))
      throw new Error(`${basename(file)} imports '${source}', and ${NO_BUNDLER}`);
  }
  return { text, exports: [] };
}

async function main(file: string, name: string): Promise<void> {
  const { text, exports } = (await bundleFunctions(file)) ?? (await moduleAlone(file));
  const hasName = exports.length === 0 || exports.includes(name) || exports.includes('default');
  if (hasName) process.stdout.write(text);
  else {
    process.stderr.write(
      `The module ${file} exports no function '${name}'. Its exports: ${exports.join(', ')}.`,
    );
    process.exitCode = NO_FUNCTION;
  }
}

const [file = '', name = ''] = process.argv.slice(2);
main(file, name).catch((error: unknown) => {
  process.stderr.write(messageOf(error));
  process.exitCode = 1;
});

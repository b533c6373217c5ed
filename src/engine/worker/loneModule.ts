// Loads a compiled module without hooks of Node's module loader. In Node 20 hooks need a thread of their own, which takes an
// isolate 0.03 s of CPU.
import { Module } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hasFields } from '../../base/json.js';
import type { CompiledModule } from '../../protocol/compiledModules.js';

/** Files of this package. */
const OWN = new URL('../../', import.meta.url).href;

/**
 * Loads a module, so that `import()` finds it. Returns false if Node cannot do this, or if the module has imports that it would
 * resolve differently. Throws the error of the module.
 */
export function loadLone(url: string, { source, imports }: CompiledModule): boolean {
  const file = fileURLToPath(url);
  if (!isNode20 || pathToFileURL(file).href !== url || ![...imports].every(isPlain)) return false;
  const module = new Module(file);
  // Node's own function for `require()` of a file, which newer versions of Node 20 also use for modules.
  if (!hasFields(module, { _compile: 'function' })) return false;
  try {
    Reflect.apply(module._compile, module, [source, file, 'module']);
  } catch (error) {
    // It awaits at its top level. `import()` finds it and runs it.
    if (!hasFields(error, { code: 'string' }) || error.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error;
  }
  return true;
}

const isNode20 = process.versions.node.startsWith('20.') && process.features.require_module === true;

/** Whether Node resolves the specifier to the URL: a module of Node, of a package with its own name, or of Longpole. */
function isPlain([specifier, url]: readonly [string, string]): boolean {
  if (url === specifier || url.startsWith('node:')) return true;
  const name = /^(?:@[^/]+\/)?[^./#@][^/]*/.exec(specifier)?.[0];
  if (name === undefined) return false;
  return url.includes(`/node_modules/${name}/`) || (name === 'longpole' && url.startsWith(OWN));
}

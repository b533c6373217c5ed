// Finds or rebuilds, inside an isolate, the functions of a message. Rebuilt functions are kept between runs, together
// with V8's optimised code for them.

import { LongpoleError, sentenceOf } from '../../base/errors.js';
import { once } from '../../base/lookUps.js';
import { registeredTasks, whenRegistered } from '../../graph/taskRegistry.js';
import { type FunctionRef, type ModuleFunctionRef, OWN_TASKS } from '../../protocol/functionRef.js';
import { isCallable, type TaskCallable } from './evaluator.js';
import { compilerFor, importModule } from './importModule.js';
import { pythonCallable } from './pythonCall.js';
import { isModuleCode } from './taskContext.js';

/** Most functions rebuilt from source that are kept. Beyond it all are discarded and rebuilt on demand. */
const MAX_REBUILT = 10_000;

const rebuilt = new Map<string, TaskCallable>();

/** Returns the functions in the same order; a promise only if modules have to be imported. Never throws: see failing(). */
export function loadFunctions(refs: readonly FunctionRef[]): TaskCallable[] | Promise<TaskCallable[]> {
  const loaded = refs.map(loadNow);
  const compilers = refs.flatMap((ref) => (ref.type === 'source' ? (compilerFor(ref.expression) ?? []) : []));
  if (compilers.length === 0 && loaded.every((fn) => fn !== undefined)) return loaded;
  return Promise.all(compilers).then(() =>
    Promise.all(
      refs.map(
        (ref, index) =>
          loaded[index] ?? (ref.type === 'module' ? loadFromModule(ref) : failing(ref, undefined)),
      ),
    ),
  );
}

function loadNow(ref: FunctionRef): TaskCallable | undefined {
  switch (ref.type) {
    case 'module':
      return asCallable(registeredTasks(ref.url)?.get(ref.name));
    case 'source':
      return rebuild(ref.expression, ref.name);
    case 'global':
      return lookUp(ref.path);
    case 'python':
      return pythonCallable(ref.target);
    case 'unavailable':
      return () => {
        throw new LongpoleError(ref.code, ref.message);
      };
  }
}

/** Helpers that esbuild and tsx call inside compiled functions; see graph/freeVariables. */
const HELPERS =
  'const __name = (target, value) => Object.defineProperty(target, "name", { value, configurable: true });';

/** Evaluates code in the global scope. Its first line has the number 1, unlike that of `new Function`. */
// biome-ignore lint/security/noGlobalEval: the code is a function of the program.
const evaluate: (code: string) => unknown = globalThis.eval;

function rebuild(expression: string, name: string): TaskCallable {
  const key = JSON.stringify([name, expression]);
  const known = rebuilt.get(key);
  if (known !== undefined) return known;
  if (rebuilt.size >= MAX_REBUILT) rebuilt.clear();
  let fn: TaskCallable;
  try {
    const made: unknown = evaluate(
      `(() => { ${expression.includes('__name') ? HELPERS : ''} return { ${JSON.stringify(name)}: (${expression}\n) }[${JSON.stringify(name)}]; })()\n//# sourceURL=delayed:${encodeURIComponent(name)}`,
    );
    fn = asCallable(made) ?? failing({ name }, new TypeError('its source is not a function'));
  } catch (error) {
    fn = failing({ name }, error);
  }
  rebuilt.set(key, fn);
  return fn;
}

function lookUp(path: string): TaskCallable {
  let owner: unknown;
  let value: unknown = globalThis;
  for (const name of path.split('.')) {
    owner = value;
    value = Reflect.get(Object(value), name);
  }
  const fn = asCallable(value);
  if (fn === undefined) return failing({ name: path }, new TypeError(`there is no global function ${path}`));
  // JSON.stringify, Object.keys and most others ignore `this`; Promise.all and Array.from need it.
  return (...args) => Reflect.apply(fn, owner, args);
}

function importTasks({ url, bundle }: ModuleFunctionRef): Promise<unknown> {
  return url === OWN_TASKS ? import('./workerPlugins.js') : importModule(url, bundle);
}

async function loadFromModule(ref: ModuleFunctionRef): Promise<TaskCallable> {
  try {
    // A script that awaits results at its top level never finishes its import here. Its tasks are registered before
    // that.
    await forbidExitDuring(() =>
      Promise.race([importTasks(ref), whenRegistered(ref.url, ref.name), timeLimit()]),
    );
  } catch (error) {
    return failing(ref, error);
  }
  const fn = asCallable(registeredTasks(ref.url)?.get(ref.name));
  if (fn !== undefined) return fn;
  return failing(
    ref,
    new Error(
      `the module does not register '${ref.name}' with tasks(import.meta.url, { … }) when it is imported`,
    ),
  );
}

/** Time limit of an import, because a module may await a promise that never settles. */
const IMPORT_SECONDS = 60;

function timeLimit(): Promise<never> {
  return new Promise((_resolve, reject) => {
    const expire = (): void => reject(new Error(`importing it took longer than ${IMPORT_SECONDS} s`));
    setTimeout(expire, IMPORT_SECONDS * 1000).unref();
  });
}

/** Returns a function that throws. A function that cannot be loaded fails the tasks that call it, not the isolate. */
function failing(ref: { readonly name: string; readonly url?: string }, cause: unknown): TaskCallable {
  const [where, advice] =
    ref.url === undefined
      ? ['', 'Define it with tasks(import.meta.url, { … }) in a module.']
      : [
          ` of module ${ref.url}`,
          'A worker must be able to import the module, and to find tasks() at its top level.',
        ];
  return () => {
    throw new LongpoleError(
      'ERR_LONGPOLE_MODULE_TASK',
      `The worker could not load function '${ref.name}'${where}: ${sentenceOf(cause)} ${advice}`,
      { cause },
    );
  };
}

function asCallable(value: unknown): TaskCallable | undefined {
  return isCallable(value) ? value : undefined;
}

// Handles modules that end their process when they are imported, for example a program that lacks an argument.
// Otherwise one isolate after the other would end, and no message would name the module.

let imports = 0;

/** Makes `process.exit()` throw during an import. Tasks may still end their worker. */
async function forbidExitDuring(work: () => Promise<unknown>): Promise<void> {
  patch();
  imports++;
  try {
    await work();
  } finally {
    imports--;
  }
}

const patch = once(() => {
  const { exit } = process;
  process.exit = (code) => {
    if (imports === 0 || !isModuleCode()) return exit.call(process, code);
    throw new LongpoleError(
      'ERR_LONGPOLE_MODULE_TASK',
      `process.exit(${code ?? ''}) was called while a worker imported the module of a task. Workers import that module to find ` +
        'the task, and run the code before its first awaited result. Put tasks into a separate module',
    );
  };
});

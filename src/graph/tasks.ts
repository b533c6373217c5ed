// Implements tasks(): the functions of a module as tasks. Other isolates import the module and find the functions by
// name.
import { invalidArgument } from '../base/errors.js';
import { type AnyFunction, isClass, isFunction, resolveFunction } from './callable.js';
import { makeTaskFunction, type TaskFunction } from './taskFunction.js';
import { registerTasks } from './taskRegistry.js';

/** The functions that tasks() accepts. A parameter without a type annotation is `unknown`. */
export type TaskBody = { body(...args: unknown[]): unknown }['body'];

/** The TaskFunctions that tasks() returns for the functions `D`. */
export type Tasks<D> = { readonly [N in keyof D]: D[N] extends AnyFunction ? TaskFunction<D[N]> : never };

/**
 * Makes tasks from a module's functions. Calling one does not run it; it returns a Delayed of its result. Other
 * isolates import the module again, so everything outside the functions runs there too: avoid side effects. A module
 * may call tasks() several times, with different names.
 *
 * @param url the module's own `import.meta.url`
 * @param functions the functions by name; arrow functions, methods, async functions
 * @returns the TaskFunctions by the same names
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `url` is not a URL, if there is no function, or if a value
 * is not a function
 */
export function tasks<D extends Readonly<Record<string, TaskBody>>>(url: string, functions: D): Tasks<D>;
export function tasks(url: unknown, functions: unknown): Record<string, TaskFunction<AnyFunction>> {
  const checkedUrl = checkUrl(url);
  const checked = checkFunctions(functions);
  registerTasks(checkedUrl, checked);
  return Object.fromEntries(Array.from(checked, ([name, fn]) => [name, makeTaskFunction(fn, { name })]));
}

function checkUrl(url: unknown): string {
  // A Windows path also begins with a letter and a colon.
  if (typeof url === 'string' && /^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  const found = typeof url === 'string' ? `'${url}'` : url === null ? 'null' : typeof url;
  throw invalidArgument(
    `The first argument of tasks() is the URL of the module, not ${found}. Write tasks(import.meta.url, { … }) in an ES module.`,
  );
}

function checkFunctions(functions: unknown): Map<string, AnyFunction> {
  if (typeof functions !== 'object' || functions === null || Object.keys(functions).length === 0)
    throw invalidArgument(
      'The second argument of tasks() is an object with at least one function, e.g. { add: (a, b) => a + b }.',
    );
  const checked = new Map<string, AnyFunction>();
  for (const [name, value] of Object.entries(functions)) {
    if (name === '')
      throw invalidArgument(
        'A function in tasks() has an empty name. Give it a name, because the keys of its tasks begin with the name.',
      );
    if (!isFunction(value))
      throw invalidArgument(
        `'${name}' in tasks() is not a function but ${describe(value)}. Pass values as arguments of the tasks.`,
      );
    if (isClass(value))
      throw invalidArgument(`'${name}' in tasks() is a class, which needs \`new\`; wrap it in a function.`);
    checked.set(name, resolveFunction(value));
  }
  return checked;
}

function describe(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}

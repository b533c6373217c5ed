// The functions that tasks() has registered in this isolate.
import { getOrMake } from '../base/lookUps.js';
import { sharedByCopies } from '../base/sharedByCopies.js';
import type { AnyFunction } from './callable.js';

/** The module and the name by which an isolate finds a function. */
export interface TaskDefinition {
  readonly url: string;
  readonly name: string;
}

interface Registry {
  /** url → name → function. */
  readonly modules: Map<string, Map<string, AnyFunction>>;
  readonly definitions: WeakMap<AnyFunction, TaskDefinition>;
  /** url → callbacks for each registration of that url. */
  readonly listeners: Map<string, Set<() => void>>;
}

const registry = sharedByCopies<Registry>('longpole.tasks', () => ({
  modules: new Map(),
  definitions: new WeakMap(),
  listeners: new Map(),
}));

/**
 * Adds the functions of a module. A module may register several times. A name that is registered again is replaced,
 * which a reloaded module needs.
 */
export function registerTasks(url: string, functions: ReadonlyMap<string, AnyFunction>): void {
  const { modules, definitions, listeners } = registry;
  const module = getOrMake(modules, url, () => new Map());
  for (const [name, fn] of functions) {
    module.set(name, fn);
    if (!definitions.has(fn)) definitions.set(fn, { url, name });
  }
  for (const listener of listeners.get(url) ?? []) listener();
}

/** Returns the URLs of the modules that have called tasks() in this isolate. */
export function registeredUrls(): Iterable<string> {
  return registry.modules.keys();
}

/** Returns the functions that a module has registered, by name. Undefined if it has not called tasks() in this isolate. */
export function registeredTasks(url: string): ReadonlyMap<string, AnyFunction> | undefined {
  return registry.modules.get(url);
}

/** Returns the module and name of a function. Undefined if tasks() does not know it. */
export function taskDefinition(fn: AnyFunction): TaskDefinition | undefined {
  return registry.definitions.get(fn);
}

/**
 * Resolves with the functions of a module as soon as it has registered some (`name` among them, if given). In an
 * isolate, a script that defines tasks and then awaits their results never finishes its import. So an isolate waits
 * for this and for the import at once. Never rejects; may never resolve.
 */
export function whenRegistered(url: string, name?: string): Promise<ReadonlyMap<string, AnyFunction>> {
  const { modules, listeners } = registry;
  const found = (): Map<string, AnyFunction> | undefined => {
    const module = modules.get(url);
    return name === undefined || module?.has(name) ? module : undefined;
  };
  return new Promise((resolve) => {
    const waiting = listeners.get(url) ?? new Set();
    const check = (): void => {
      const module = found();
      if (module === undefined) return;
      waiting.delete(check);
      resolve(module);
    };
    waiting.add(check);
    listeners.set(url, waiting);
    check();
  });
}

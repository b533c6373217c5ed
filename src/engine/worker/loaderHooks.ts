// Registers hooks of Node's module loader. Newer versions of Node call them on the importing thread, older ones on another
// thread, where the next hook returns a promise.
import * as nodeModule from 'node:module';

export interface Loaded {
  readonly format: string;
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | undefined;
}

export interface Resolved {
  readonly url: string;
}

export interface ResolveContext {
  readonly parentURL?: string | undefined;
}

/** The next hook. */
export type Next<Result, Context = unknown> = (what: string, context: Context) => Result | Promise<Result>;

interface HookFile {
  initialize?(data: unknown): void;
}

const registered = new Set<string>();

/**
 * Registers the hooks of a file in front of the present ones, and calls its `initialize` with the data. May be called again with
 * other data.
 */
export async function registerHooks(file: URL, data?: unknown): Promise<void> {
  if (!('registerHooks' in nodeModule) || typeof nodeModule.registerHooks !== 'function') {
    nodeModule.register(file, { data });
    return;
  }
  const hooks: HookFile = await import(file.href);
  hooks.initialize?.(data);
  if (registered.has(file.href)) return;
  registered.add(file.href);
  nodeModule.registerHooks(hooks);
}

/** Returns what `then` makes of a value or of the value of a promise. */
export function after<T, R>(value: T | Promise<T>, then: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(then) : then(value);
}

/** Returns the text of a module. Undefined if its loader gives none, as for CommonJS. */
export function textOf({ source }: Loaded): string | undefined {
  if (source === undefined || source === null) return undefined;
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

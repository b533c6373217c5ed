// Plugins inside an isolate: imports a user's module there, and calls its hooks around every task.

import { internalError, invalidArgument, isError } from '../../base/errors.js';
import { fieldOf, hasFields } from '../../base/json.js';
import { visibleName } from '../../base/visibleText.js';
import { isClass } from '../../graph/callable.js';
import { registerTasks } from '../../graph/taskRegistry.js';
import { type FunctionRef, OWN_TASKS } from '../../protocol/functionRef.js';
import { PLUGIN } from '../../protocol/metrics.js';
import type { WorkerSnapshot } from '../host/hostTypes.js';
import { contextMeter } from './contextMeter.js';
import { isCallable, type TaskCallable } from './evaluator.js';
import { importModule } from './importModule.js';
import { addTaskHook } from './taskHook.js';

/**
 * A plugin inside every worker's isolate.
 *
 * @source Dask, `distributed.WorkerPlugin`
 */
export interface WorkerPlugin {
  /** Called before its worker runs another task. */
  setup?(context: { readonly worker: WorkerSnapshot }): Promise<void> | void;
  /** Called when the plugin is removed, or the worker leaves. */
  teardown?(context: { readonly worker: WorkerSnapshot }): Promise<void> | void;
  /**
   * Called around every task: from `ready` to `executing`, and from there to `memory` or `error`. A task that calls `secede()`
   * goes from `executing` to `long-running`, and from there to `memory` or `error`.
   */
  transition?(
    key: string,
    start: WorkerTaskState,
    finish: WorkerTaskState,
    context: { readonly worker: { readonly name: string } },
  ): void;
}

export type WorkerTaskState = 'ready' | 'executing' | 'long-running' | 'memory' | 'error';

/**
 * Location of a WorkerPlugin: `export` of the module `url` is a plugin, or a class or function, which may be async, that
 * creates one from `options`.
 */
export interface WorkerPluginSpec {
  readonly url: string;
  /** Name of the export. Default `default`. */
  readonly export?: string;
  readonly options?: unknown;
  /** Name of the plugin. A plugin with the same name replaces it. Default: url and export. */
  readonly name?: string;
}

type Hook = (...args: unknown[]) => unknown;

interface Installed {
  /** Facts about the worker, not about its isolate. */
  readonly worker: { readonly name: string };
  readonly setup: Hook | undefined;
  readonly teardown: Hook | undefined;
  readonly transition: Hook | undefined;
}

const installed = new Map<string, Installed>();
/** Name → the last call that installs it. A plugin can be removed or replaced while its module is imported. */
const installing = new Map<string, unknown>();
/** Key of the task in the slot; undefined if it began before there was a hook. */
let current: string | undefined;
/** Removes the hook that notifies plugins of tasks; undefined if no plugin needs it. */
let removeHook: (() => void) | undefined;

/** Creates the plugin and calls its `setup({ worker })`. Throws the exception of either. */
async function install(context: unknown): Promise<string> {
  const { worker, plugin, name } = checked(context);
  installing.set(name, context);
  await remove(name, worker);
  const module = await importModule(plugin.url);
  const object = await makePlugin(fieldOf(module, plugin.export ?? 'default'), plugin);
  if (installing.get(name) !== context) return name;
  const hook = (key: string): Hook | undefined => {
    const method = fieldOf(object, key);
    return isCallable(method) ? (...args) => Reflect.apply(method, object, args) : undefined;
  };
  const hooks = {
    worker: { name: worker.name },
    setup: hook('setup'),
    teardown: hook('teardown'),
    transition: hook('transition'),
  };
  installed.set(name, hooks);
  listen();
  try {
    await hooks.setup?.({ worker });
  } catch (error) {
    // The caller receives the error, so the plugin must not stay installed.
    if (installed.get(name) === hooks) installed.delete(name);
    listen();
    throw error;
  }
  return name;
}

async function makePlugin(
  exported: unknown,
  { url, export: name = 'default', options }: WorkerPluginSpec,
): Promise<object> {
  const make = (fn: TaskCallable): unknown => (isClass(fn) ? Reflect.construct(fn, [options]) : fn(options));
  const made = isCallable(exported) ? await make(exported) : exported;
  if (typeof made === 'object' && made !== null) return made;
  throw invalidArgument(
    `The module ${url} exports no '${name}' that is a worker plugin, or a class or function that creates one.`,
  );
}

async function uninstall(context: unknown): Promise<void> {
  const { worker, name } = checked(context);
  installing.delete(name);
  await remove(name, worker);
}

async function remove(name: string, worker: unknown): Promise<void> {
  const old = installed.get(name);
  installed.delete(name);
  listen();
  await old?.teardown?.({ worker });
}

/** Notifies plugins of tasks. An exception of a plugin fails nothing. */
function listen(): void {
  removeHook?.();
  removeHook = undefined;
  const listeners = Array.from(installed, ([name, { transition, worker }]) =>
    transition === undefined
      ? []
      : { transition, worker, meter: contextMeter.meter(`${PLUGIN}${visibleName(name)}`) },
  ).flat();
  if (listeners.length === 0) {
    current = undefined;
    return;
  }
  const notify = (key: string | undefined, start: string, finish: string): void => {
    if (key === undefined) return;
    for (const { transition, worker, meter } of listeners) {
      // Times of the task contain the call, because it runs on the task's thread. In the metrics it has its own activity.
      const end = meter[Symbol.dispose];
      try {
        transition(key, start, finish, { worker });
      } catch (error) {
        process.emitWarning(isError(error) ? error : String(error), 'LongpolePluginWarning');
      } finally {
        end();
      }
    }
  };
  const left = (finish: string): void => {
    notify(current, 'executing', finish);
    current = undefined;
  };
  removeHook = addTaskHook({
    before: (label) => {
      current = label;
      notify(label, 'ready', 'executing');
    },
    after: (failed) => left(failed ? 'error' : 'memory'),
    seceded: () => left('long-running'),
    secededEnded: (label, failed) => notify(label, 'long-running', failed ? 'error' : 'memory'),
  });
}

/** Returns the worker, and the plugin with the name that identifies it. */
function checked(context: unknown) {
  const worker = fieldOf(context, 'worker');
  const plugin = fieldOf(context, 'plugin');
  if (!hasFields(worker, { name: 'string' }) || !hasFields(plugin, { url: 'string' }))
    throw internalError('The message for a worker plugin names no plugin.');
  const spec: WorkerPluginSpec = plugin;
  return { worker, plugin: spec, name: spec.name ?? `${spec.url}#${spec.export ?? 'default'}` };
}

registerTasks(
  OWN_TASKS,
  new Map<string, TaskCallable>([
    ['install', install],
    ['uninstall', uninstall],
  ]),
);

/** The function for `WorkerHost.call` with `{ plugin }`. */
export const INSTALL_PLUGIN: FunctionRef = { type: 'module', url: OWN_TASKS, name: 'install' };
export const UNINSTALL_PLUGIN: FunctionRef = { type: 'module', url: OWN_TASKS, name: 'uninstall' };

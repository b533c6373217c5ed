// Checks the argument of `registerPlugin`: hooks of the scheduler, or the module of a plugin of the workers.
import {
  ANY,
  CALLABLE,
  checkArgument,
  checkOptions,
  invalid,
  kind,
  type OptionKinds,
  TEXT,
} from '../../base/arguments.js';
import { LongpoleError } from '../../base/errors.js';
import type { SchedulerPlugin } from '../../engine/cluster/schedulerPlugins.js';
import type { WorkerPluginSpec } from '../../engine/worker/workerPlugins.js';

const WORKER_PLUGIN: OptionKinds<WorkerPluginSpec> = { url: TEXT, export: TEXT, name: TEXT, options: ANY };
const HOOKS: OptionKinds<SchedulerPlugin> = {
  name: TEXT,
  start: CALLABLE,
  addWorker: CALLABLE,
  removeWorker: CALLABLE,
  transition: CALLABLE,
  close: CALLABLE,
};
const PLUGIN = kind(
  "an object with hooks, or { url, export } of a worker's plugin",
  (value) => typeof value === 'object' && value !== null,
);

/**
 * Checks a plugin. Rejects an instance of a worker's plugin, because workers create their instances.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 */
export function checkPlugin(plugin: SchedulerPlugin | WorkerPluginSpec): void {
  checkArgument('Client.registerPlugin: plugin', plugin, PLUGIN);
  if ('url' in plugin) {
    checkOptions('Client.registerPlugin', plugin, WORKER_PLUGIN);
    return;
  }
  if ('setup' in plugin || 'teardown' in plugin)
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      "Client.registerPlugin: plugin: 'setup' and 'teardown' are hooks of workers, which create their plugins from a module. " +
        "Pass the plugin's module: { url: import.meta.url, export: 'MyPlugin', options: { … } }.",
    );
  const names = Object.keys(HOOKS).filter((name) => name !== 'name');
  if (!names.some((name) => name in plugin))
    throw invalid('Client.registerPlugin: plugin', plugin, `an object with some of ${names.join(', ')}`);
}

// Tests the hooks of plugins inside an isolate that change while a task runs.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { registeredTasks } from '../../graph/taskRegistry.js';
import { OWN_TASKS } from '../../protocol/functionRef.js';
import { taskHook } from './taskHook.js';
import { INSTALL_PLUGIN, UNINSTALL_PLUGIN } from './workerPlugins.js';

const url = `data:text/javascript,${encodeURIComponent(`
  export const seen = [];
  export default async (name) => ({ transition: (...args) => seen.push([name, ...args.slice(0, 3)].join(' ')) });
  export const none = () => undefined;
`)}`;

const install = (name: string, exported?: string): Promise<void> => call(INSTALL_PLUGIN.name, name, exported);
const uninstall = (name: string): Promise<void> => call(UNINSTALL_PLUGIN.name, name);

async function call(what: string, name: string, exported = 'default'): Promise<void> {
  const plugin = { url, name, options: name, export: exported };
  const fn = registeredTasks(OWN_TASKS)?.get(what);
  assert.ok(fn);
  await Reflect.apply(fn, undefined, [{ worker: { name: 'worker-0' }, plugin }]);
}

it('a plugin may come from an asynchronous function, and a function without a plugin is an error', async () => {
  const { seen }: { seen: string[] } = await import(url);
  await install('first');
  taskHook.current?.before('zero');
  taskHook.current?.after(false);
  assert.deepEqual(seen.splice(0), ['first zero ready executing', 'first zero executing memory']);
  await assert.rejects(install('second', 'none'), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
  await uninstall('first');
});

it('a plugin that is installed during a task names the task if it names one, and changes nothing for the others', async () => {
  const { seen }: { seen: string[] } = await import(url);
  // This task began when there was no plugin.
  await install('first');
  taskHook.current?.after(false);
  taskHook.current?.before('one');
  await install('second');
  taskHook.current?.after(false);
  assert.deepEqual(seen, [
    'first one ready executing',
    'first one executing memory',
    'second one executing memory',
  ]);
});

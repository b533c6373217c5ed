// Tests the hooks of plugins inside an isolate that change while a task runs.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { registeredTasks } from '../../graph/taskRegistry.js';
import { OWN_TASKS } from '../../protocol/functionRef.js';
import { taskHook } from './taskHook.js';
import { INSTALL_PLUGIN } from './workerPlugins.js';

const url = `data:text/javascript,${encodeURIComponent(`
  export const seen = [];
  export default (name) => ({ transition: (...args) => seen.push([name, ...args.slice(0, 3)].join(' ')) });
`)}`;

it('a plugin that is installed during a task names the task if it names one, and changes nothing for the others', async () => {
  const { seen }: { seen: string[] } = await import(url);
  const install = async (name: string): Promise<void> => {
    const plugin = { url, name, options: name };
    const fn = registeredTasks(OWN_TASKS)?.get(INSTALL_PLUGIN.name);
    assert.ok(fn);
    await Reflect.apply(fn, undefined, [{ worker: { name: 'worker-0' }, plugin }]);
  };
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

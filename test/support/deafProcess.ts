// Preloaded module: a process whose id is in the file LONGPOLE_TEST_DEAF loses every message that its parent sends.
import { existsSync, readFileSync } from 'node:fs';

const file = process.env['LONGPOLE_TEST_DEAF'];
if (file !== undefined) {
  const emit = process.emit.bind(process);
  const isDeaf = (): boolean => existsSync(file) && readFileSync(file, 'utf8') === String(process.pid);
  process.emit = new Proxy(emit, {
    apply: (target, self, args: unknown[]) =>
      args[0] === 'message' && isDeaf() ? true : Reflect.apply(target, self, args),
  });
}

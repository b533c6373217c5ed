// A task whose module cannot be sent to a worker, because it imports a binary.
import { tasks } from 'longpole';

export const { loaded } = tasks(import.meta.url, {
  loaded: async (): Promise<string> => {
    // @ts-expect-error There is no such file for the compiler.
    const binary: unknown = await import('./binary.node');
    return typeof binary;
  },
});

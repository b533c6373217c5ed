// A task that Python calls. The module is not calledFunctions.ts, because bundling it with Longpole takes a second of CPU.
import { tasks } from 'longpole';

export const { square } = tasks(import.meta.url, { square: (x: number) => x * x });

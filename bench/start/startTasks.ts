// Tasks of the programs whose start the bench measures.
import { tasks } from 'longpole';

export const startTasks = tasks(import.meta.url, { inc: (value: number): number => value + 1 });

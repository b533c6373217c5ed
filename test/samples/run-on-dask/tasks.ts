import { tasks } from 'longpole';

export const { square } = tasks(import.meta.url, { square: (x: number) => x * x });

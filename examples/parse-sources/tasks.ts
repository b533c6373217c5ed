// The functions that run on the workers. Every isolate imports this module and finds the functions by name.
import { readFileSync } from 'node:fs';
import { tasks } from 'longpole';
import { summariseSource } from './parseSource.js';
import { mergeSummaries, type Summary } from './summary.js';

export const { parse, merge } = tasks(import.meta.url, {
  parse(path: string, file: number): Summary {
    const bytes = readFileSync(path);
    return summariseSource(bytes.toString('utf8'), bytes.length, file);
  },
  merge(summaries: readonly Summary[]): Summary {
    return mergeSummaries(summaries);
  },
});

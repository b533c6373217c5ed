// Properties of one run, read from the columns on demand.
import type { PrefixInfo, ProfileModel } from '../model/profileModel.js';

export interface RunDetails {
  readonly key: string;
  readonly text: string;
  readonly prefix: PrefixInfo;
  /** Prefix of the task. It differs from `prefix` for failed tasks, which have a colour of their own. */
  readonly prefixName: string;
  readonly worker: string;
  /** Seconds since the origin. */
  readonly start: number;
  readonly stop: number;
  /** Row of the task table. */
  readonly task: number;
}

export function runDetails(model: ProfileModel, position: number): RunDetails {
  const { section, lanes } = model.stream;
  const entry = lanes.entry[position]!;
  const task = section.task[entry]!;
  const { tasks, workers } = model.page;
  const prefix = model.prefixes[tasks.prefix[task]!]!;
  return {
    key: tasks.keys.at(task) ?? '',
    text: tasks.texts.at(task) ?? '',
    prefix,
    prefixName: model.prefixOf?.(task) ?? prefix.name,
    worker: workers[section.worker[entry]!]?.name ?? '',
    start: lanes.start[position]!,
    stop: lanes.stop[position]!,
    task,
  };
}

/** Returns how long the results of a task were in the cache, according to CacheProfilers. Cost: O(entries). */
export function cacheStays(
  model: ProfileModel,
  task: number,
): { metricName: string; metric: number; seconds: number }[] {
  const stays: { metricName: string; metric: number; seconds: number }[] = [];
  for (const plot of model.plots) {
    const section = plot.type === 'lines' ? plot.cache : undefined;
    if (section === undefined) continue;
    for (let i = section.task.indexOf(task); i >= 0; i = section.task.indexOf(task, i + 1)) {
      stays.push({
        metricName: section.metricName,
        metric: section.metric[i]!,
        seconds: section.freeTime[i]! - section.cacheTime[i]!,
      });
    }
  }
  return stays;
}

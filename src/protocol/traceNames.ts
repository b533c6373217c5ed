// Names in the columns of a trace. Isolates and workers need them without the tables.

/** Outcomes of a run of a task. The columns of TaskRuns contain their indices. */
export const TASK_STATES = ['memory', 'erred', 'cancelled', 'lost'] as const;

/**
 * Actions of a worker in an interval. `await`: an asynchronous task left its thread idle; for each task only the sum
 * is known, as one interval from the first wait. `profiler`: the start of the profiler delayed the thread.
 */
export const ACTIONS = [
  'compute',
  'transfer',
  'disk-read',
  'disk-write',
  'serialize',
  'deserialize',
  'compress',
  'decompress',
  'gc',
  'await',
  'profiler',
] as const;

export const DIRECTIONS = ['incoming', 'outgoing'] as const;
export const TRANSFER_KINDS = ['gather-dep', 'get-data', 'gather', 'scatter'] as const;

/** Figures of the host: seconds on a core, and seconds ready to run without one, since the start of the scheduler's thread. */
export const SCHEDULER_CORE_TIME = 'scheduler_core_time';
export const SCHEDULER_CORE_WAIT = 'scheduler_core_wait';
/** Figure of the host: CPU seconds of the ended child processes of the processes that run tasks, since the start of these. */
export const CHILDREN_CPU = 'children_cpu';
/** Figures of the host: cores of the CPU limit of its container, and seconds in which the limit stopped ready threads, since its start. */
export const CPU_LIMIT = 'cpu_limit';
export const CPU_THROTTLED = 'cpu_throttled';
/** Figure of each isolate: seconds of garbage collections since its start. */
export const GC_TIME = 'gc_time';

// The measured engines, one row each, with the row of Longpole to which each is compared.

export interface Row {
  readonly id: string;
  readonly label: string;
  /** `dask` rows need Python with Dask; `pool` rows are the peers in JavaScript. */
  readonly kind: 'own' | 'pool' | 'dask';
  /** Longpole's row with the same work. */
  readonly against: string;
  /** Share of `--tasks` that this row runs, a tenth for chains. */
  readonly share: number;
  /** Largest permitted µs per task; for `profilers`, the largest ratio to the run without them. */
  readonly target?: number;
  readonly unit: 'µs per task' | 'times off';
}

const row = (
  kind: Row['kind'],
  id: string,
  label: string,
  against: string,
  more: Partial<Row> = {},
): Row => ({
  id,
  label,
  kind,
  against,
  share: 1,
  unit: 'µs per task',
  ...more,
});

export const ROWS: readonly Row[] = [
  row('own', 'sync', 'getSync', 'sync', { target: 1.2 }),
  row('dask', 'dask-sync', 'Dask get_sync', 'sync'),
  row('own', 'threads', 'getThreaded, 2 threads', 'threads', { target: 1.8 }),
  row('pool', 'piscina-tuned', 'piscina, tuned (16 in flight per worker, atomics off)', 'threads'),
  row('pool', 'poolifier', 'poolifier', 'threads'),
  row('pool', 'piscina', 'piscina, as it comes', 'threads'),
  row('pool', 'tinypool', 'tinypool', 'threads'),
  row('pool', 'workerpool', 'workerpool', 'threads'),
  row('dask', 'dask-threads', 'Dask threaded.get, 2 threads', 'threads'),
  row('own', 'processes', 'getMultiprocessing, 2 processes', 'processes', { target: 4 }),
  row('dask', 'dask-processes', 'Dask multiprocessing.get, 2 processes', 'processes'),
  row('own', 'chain', 'chain, getThreaded', 'chain', { target: 1.5, share: 0.1 }),
  row('pool', 'piscina-chain', 'chain, piscina', 'chain', { share: 0.1 }),
  row('dask', 'dask-chain', 'chain, Dask threaded.get', 'chain', { share: 0.1 }),
  row('own', 'profilers', 'getThreaded with all three profilers', 'profilers', {
    target: 1.1,
    unit: 'times off',
  }),
  row('dask', 'dask-profilers', 'Dask threaded.get with all three profilers', 'profilers', {
    unit: 'times off',
  }),
];

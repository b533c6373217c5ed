/**
 * Seconds for people, to a tenth: `17.1 s`, `1min 40.4 s`, `2hr 46min 40.4 s`.
 *
 * @source the time of Dask's progress bar
 */
export function formatTime(seconds: number): string {
  // Rounded first, so that 59.96 s becomes 1min 0.0 s and not 60.0 s.
  const tenths = Math.round(Math.max(0, seconds) * 10);
  const rest = `${((tenths % 600) / 10).toFixed(1)} s`;
  const minutes = Math.floor(tenths / 600);
  if (minutes === 0) return rest;
  return minutes < 60 ? `${minutes}min ${rest}` : `${Math.floor(minutes / 60)}hr ${minutes % 60}min ${rest}`;
}

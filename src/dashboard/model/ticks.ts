// Positions and labels of axis ticks. Steps of time are 1, 2 or 5 times a power of ten up to 5 s, then parts of a
// minute, minutes and hours. All labels of an axis have the same unit and the same number of digits.
import { formatBytes, formatDuration, formatNumber, pad } from './format.js';

export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** Steps of a time axis from 10 s. */
const LONG_STEPS = [10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** Returns the smallest step of 1, 2 or 5 times a power of ten that is at least `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** Returns the step of a time axis in seconds, at least `least`. */
function timeStep(least: number): number {
  if (least <= 5) return niceStep(least);
  return LONG_STEPS.find((step) => step >= least) ?? Math.ceil(least / 86400) * 86400;
}

/** Returns the ticks of a time axis from `start` to `stop` (seconds since the beginning of the run), about 110 px apart. */
export function timeTicks(start: number, stop: number, width: number): Tick[] {
  if (!(stop > start) || width <= 0) return [];
  const step = timeStep(((stop - start) * 110) / width);
  const ticks: Tick[] = [];
  for (let i = Math.ceil(start / step - 1e-9); i * step <= stop; i++) {
    ticks.push({
      value: i * step,
      label: timeLabel(i * step, step, Math.max(Math.abs(start), Math.abs(stop))),
    });
  }
  return ticks;
}

/**
 * Formats a time at the precision of the step. The unit follows the largest time in view, so that an axis has one unit.
 */
function timeLabel(value: number, step: number, largest: number): string {
  if (Math.abs(value) < step / 2) return '0';
  if (step >= 60 || (largest >= 180 && step >= 1)) return minutesLabel(value, step);
  const [scale, unit] = largest >= 1 ? [1, 's'] : largest >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  const digits = Math.max(0, -Math.floor(Math.log10(step * scale) + 1e-9));
  return `${(value * scale).toFixed(Math.min(digits, 9))}\u00a0${unit}`;
}

function minutesLabel(value: number, step: number): string {
  if (value < 0) return `-${minutesLabel(-value, step)}`;
  const whole = Math.round(value);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  if (step >= 60) return hours > 0 ? `${hours}:${pad(minutes)}\u00a0h` : `${minutes}\u00a0min`;
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** Unit of the values of an axis, on which its steps and labels depend. */
export type AxisUnit = 'number' | 'bytes' | 'bytes/s' | 'percent' | 'seconds';

/**
 * Returns the top and the ticks of an axis from 0 with about `most` steps. CPU above 100 % has steps of whole cores.
 */
export function valueAxis(largest: number, unit: AxisUnit, most: number): { top: number; ticks: Tick[] } {
  const least = (largest > 0 ? largest : 1) / Math.max(1, most);
  let step = niceStep(least);
  if (unit === 'percent' && largest > 100) step = coreStep(least);
  if (unit === 'percent' && largest > 20 && largest <= 100) step = most >= 4 ? 25 : 50;
  if (unit === 'number' && largest >= 1) step = Math.max(step, largest >= 5 ? 1 : 0.5);
  const count = Math.max(1, Math.ceil((largest > 0 ? largest : 1) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, i) => ({
    value: i * step,
    label: valueLabel(i * step, unit),
  }));
  return { top: count * step, ticks };
}

/** Returns a second axis whose ticks lie on the lines of the first, which has `steps` steps. */
export function alignedAxis(largest: number, unit: AxisUnit, steps: number): { top: number; ticks: Tick[] } {
  const least = (largest > 0 ? largest : 1) / steps;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((candidate) => candidate * power >= least) ?? 10;
  const ticks = Array.from({ length: steps + 1 }, (_, i) => i * factor * power);
  return {
    top: steps * factor * power,
    ticks: ticks.map((value) => ({ value, label: valueLabel(value, unit) })),
  };
}

/** Returns a step of whole cores in percent: 1, 2, 4, 5 or 8 cores times a power of ten. */
function coreStep(least: number): number {
  for (let decade = 100; ; decade *= 10) {
    const step = [1, 2, 4, 5, 8].map((factor) => factor * decade).find((candidate) => candidate >= least);
    if (step !== undefined) return step;
  }
}

export function valueLabel(value: number, unit: AxisUnit): string {
  if (unit === 'bytes') return value === 0 ? '0' : formatBytes(value);
  if (unit === 'bytes/s') return value === 0 ? '0' : `${formatBytes(value)}/s`;
  if (unit === 'seconds') return value === 0 ? '0' : formatDuration(value);
  if (unit === 'percent') return `${formatNumber(value)}\u00a0%`;
  return formatNumber(value);
}

export function idleLabel({ start, stop }: { readonly start: number; readonly stop: number }): string {
  return `${formatDuration(stop - start)} idle`;
}

/** Formats a time since the beginning of the run precisely enough for a window of `span` seconds. */
export function preciseTime(seconds: number, span: number): string {
  const size = Math.abs(seconds);
  // A duration has whole seconds, and from an hour on whole minutes.
  if (span > (size >= 3600 ? 36_000 : 600)) return formatDuration(seconds);
  const digits = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(span > 0 ? span : 1))));
  if (size < 600) return `${seconds.toFixed(digits)}\u00a0s`;
  // As on the axis, late times have hours, minutes and seconds.
  const rounded = size.toFixed(digits);
  const [whole = '', fraction = ''] = rounded.split('.');
  const clock = minutesLabel(Number(whole), 1);
  return `${seconds < 0 ? '−' : ''}${clock}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Returns what the values in the heading of a plot are without a pointer. `meanOf` is the time of each mean in seconds, which
 * hides shorter peaks.
 */
export function peakLabel(meanOf?: number): string {
  return meanOf === undefined ? 'peak' : `highest mean of ${formatDuration(meanOf)}`;
}

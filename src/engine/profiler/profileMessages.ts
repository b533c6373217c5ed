// Reads what a thread's inspector sends: it comes as JSON, from another thread or process.
import type { CpuProfile, CpuProfileNode } from '../../profile/cpuProfile.js';

/** `Profiler.consoleProfileFinished`, or undefined if it is not one that this program understands. */
export function consoleProfile(params: unknown): { title: string; profile: CpuProfile } | undefined {
  if (!hasShape(params, { title: 'string', profile: 'object' })) return undefined;
  const { title, profile } = params;
  return typeof title === 'string' && isCpuProfile(profile) ? { title, profile } : undefined;
}

/** The value of a `Runtime.evaluate` that was asked to return it; undefined if there is none. */
export function evaluated(result: unknown): unknown {
  if (!hasShape(result, { result: 'object' })) return undefined;
  const { result: inner } = result;
  if (!hasShape(inner, {})) return undefined;
  const { value } = inner;
  return value;
}

function isCpuProfile(value: unknown): value is CpuProfile {
  if (!hasShape(value, { startTime: 'number', endTime: 'number' })) return false;
  const { nodes, samples, timeDeltas } = value;
  return Array.isArray(nodes) && nodes.every(isNode) && isNumbers(samples) && isNumbers(timeDeltas);
}

function isNode(value: unknown): value is CpuProfileNode {
  if (!hasShape(value, { id: 'number', callFrame: 'object' })) return false;
  const { callFrame, children, positionTicks } = value;
  return (
    hasShape(callFrame, {
      functionName: 'string',
      url: 'string',
      lineNumber: 'number',
      columnNumber: 'number',
    }) &&
    (children === undefined || isNumbers(children)) &&
    (positionTicks === undefined ||
      (Array.isArray(positionTicks) &&
        positionTicks.every((tick) => hasShape(tick, { line: 'number', ticks: 'number' }))))
  );
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

function hasShape(
  value: unknown,
  fields: Readonly<Record<string, 'string' | 'number' | 'object'>>,
): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(fields).every(([name, type]) => typeof Reflect.get(value, name) === type);
}

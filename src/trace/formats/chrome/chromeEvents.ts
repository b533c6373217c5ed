// Converts the events of a Chrome trace to rows: slices to tasks, counters to figures, instants to events.

import { Float64Column } from '../../../base/columns.js';
import { getOrMake, pushTo } from '../../../base/lookUps.js';
import type { TraceBuilder } from '../../traceBuilder.js';
import { ChromeCounters } from './chromeCounters.js';
import { FLOW_BEGIN, FLOW_END, FLOW_END_NEXT, FLOW_STEP } from './chromeFlows.js';
import { ChromeOrigins } from './chromeOrigins.js';
import { ChromeSlices } from './chromeSlices.js';
import type { ChromeEvent } from './chromeText.js';
import { argsOf, ChromeTexts, numberOf } from './chromeValues.js';

/** Limit for an event's arguments as text, in characters. */
const MAX_TEXT = 1000;

/** A slice without an end yet. */
interface OpenSlice {
  readonly name: number;
  readonly key: number;
  readonly start: number;
}

export class ChromeEvents {
  readonly #builder: TraceBuilder;
  readonly #origins: ChromeOrigins;
  readonly #slices = new ChromeSlices();
  readonly #counters: ChromeCounters;
  readonly #texts: ChromeTexts;
  /** Slices with a `B` but no `E`, by lane; the innermost is the last. */
  readonly #open = new Map<number, OpenSlice[]>();
  /** Slices with a `b` but no `e`, by category, id and name. */
  readonly #openAsync = new Map<string, (OpenSlice & { readonly lane: number })[]>();
  readonly #flows = new Map<string, number>();
  /** Instants, until the names of their processes are known: time, process, topic, text. */
  readonly #instants = new Float64Column();

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
    this.#texts = new ChromeTexts(builder.strings);
    this.#origins = new ChromeOrigins(builder);
    this.#counters = new ChromeCounters(builder, this.#origins, this.#texts);
  }

  /** Whether there was no usable event. */
  get empty(): boolean {
    return this.#builder.eventCount === 0;
  }

  event(event: ChromeEvent): boolean {
    if (typeof event.ph !== 'string' || event.ph.length !== 1) return false;
    const time = numberOf(event.ts) / 1e6;
    const known = event.ph === 'M' ? this.#metadata(event) : this.#timed(event, event.ph, time);
    if (known) this.#builder.eventCount++;
    return known;
  }

  /**
   * Handles an event with a time. Returns false if it has no time. Events of phases without a table are only counted.
   */
  #timed(event: ChromeEvent, phase: string, time: number): boolean {
    if (!Number.isFinite(time)) return false;
    switch (phase) {
      case 'X':
        return this.#complete(event, time);
      case 'B':
        pushTo(this.#open, this.#lane(event), this.#slice(event, time));
        break;
      case 'E':
        this.#end(event, time);
        break;
      case 'b':
      case 'S':
        pushTo(this.#openAsync, idOf(event), { ...this.#slice(event, time), lane: this.#lane(event) });
        break;
      case 'e':
      case 'F':
        this.#asyncEnd(event, time);
        break;
      case 'C':
        this.#counters.add(event, time);
        break;
      case 'i':
      case 'I':
      case 'R':
      case 'n':
        this.#instant(event, time);
        break;
      case 's':
        this.#flow(event, time, FLOW_BEGIN);
        break;
      case 't':
        this.#flow(event, time, FLOW_STEP);
        break;
      case 'f':
        this.#flow(event, time, event.bp === 'e' ? FLOW_END : FLOW_END_NEXT);
        break;
    }
    return true;
  }

  #slice(event: ChromeEvent, start: number): OpenSlice {
    return { name: this.#name(event), key: this.#argument(event, 'key'), start };
  }

  #complete(event: ChromeEvent, time: number): boolean {
    const duration = numberOf(event.dur) / 1e6;
    // A slice without a duration did not end.
    if (!(duration >= 0 && duration < Number.POSITIVE_INFINITY)) return event.dur === undefined;
    this.#slices.add(this.#name(event), this.#argument(event, 'key'), this.#lane(event), time, duration);
    return true;
  }

  /** Ends the innermost slice. Its name is ignored, because the slices of a thread nest. */
  #end(event: ChromeEvent, stop: number): void {
    const lane = this.#lane(event);
    const slice = this.#open.get(lane)?.pop();
    if (slice === undefined) return;
    const key = slice.key < 0 ? this.#argument(event, 'key') : slice.key;
    this.#slices.add(slice.name, key, lane, slice.start, Math.max(0, stop - slice.start));
  }

  #asyncEnd(event: ChromeEvent, stop: number): void {
    const id = idOf(event);
    const stack = this.#openAsync.get(id);
    const slice = stack?.pop();
    if (stack === undefined || slice === undefined) return;
    if (stack.length === 0) this.#openAsync.delete(id);
    this.#slices.add(slice.name, slice.key, ~slice.lane, slice.start, Math.max(0, stop - slice.start));
  }

  #flow(event: ChromeEvent, time: number, phase: number): void {
    const points = this.#slices.flows;
    points.time.push(time);
    points.lane.push(this.#lane(event));
    points.flow.push(getOrMake(this.#flows, idOf(event), () => this.#flows.size));
    points.phase.push(phase);
  }

  #instant(event: ChromeEvent, time: number): void {
    const row = this.#instants;
    row.push(time);
    row.push(this.#origins.process(this.#texts.of(event.pid)));
    row.push(this.#name(event));
    row.push(this.#argumentText(event));
  }

  /** Returns the argument `text`, or the JSON text of all arguments. */
  #argumentText(event: ChromeEvent): number {
    const text = this.#argument(event, 'text');
    if (text >= 0) return text;
    const all = JSON.stringify(argsOf(event));
    return all === '{}' || all.length > MAX_TEXT ? -1 : this.#texts.of(all);
  }

  #metadata(event: ChromeEvent): boolean {
    if (this.#texts.of(event.name) < 0) return false;
    if (event.name !== 'process_name') return true;
    const process = this.#origins.processes[this.#origins.process(this.#texts.of(event.pid))]!;
    const given = this.#argument(event, 'name');
    if (given >= 0) process.name = given;
    return true;
  }

  /** Creates the rows that waited for names. Call this after the last event. */
  finish(): void {
    const origins = this.#origins;
    for (const process of origins.processes) origins.workerOf(process);
    this.#slices.finish(this.#builder, origins);
    this.#counters.finish();
    const instants = this.#instants.take();
    for (let at = 0; at < instants.length; at += 4) {
      const worker = origins.workerOf(origins.processes[instants[at + 1]!]!);
      this.#builder.events.add({
        time: instants[at]!,
        worker,
        topic: instants[at + 2]!,
        text: instants[at + 3]!,
      });
    }
  }

  /** Returns the name of an event, or an empty name. */
  #name({ name }: ChromeEvent): number {
    const known = this.#texts.of(name);
    return known < 0 ? this.#texts.of('') : known;
  }

  #lane({ pid, tid }: ChromeEvent): number {
    return this.#origins.lane(this.#texts.of(pid), this.#texts.of(tid));
  }

  #argument(event: ChromeEvent, name: 'key' | 'name' | 'text'): number {
    return this.#texts.of(argsOf(event)[name]);
  }
}

/** Returns the common identity of the events of an async slice or a flow. Local ids are specific to a process. */
function idOf({ cat, name, id, id2, pid }: ChromeEvent): string {
  return `${cat} ${name} ${id ?? `${pid} ${JSON.stringify(id2)}`}`;
}

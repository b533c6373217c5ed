// Divides the time of a task between its meters. A moment belongs to the innermost open meters, in equal parts.
//
// A `using` block changes the context of the code that follows, which includes the caller of an async function. Two
// functions that a task starts one after the other therefore look nested, although they run side by side. The context
// in which the outer block ends shows which is true: it has passed the inner block only if that one was opened inside.
// Until then the inner meter is disputed, and changes are kept in a log. The log is applied in order as soon as no
// meter is disputed.
import type { MeteredTask, MeterScope, TaskBlock } from './meterContext.js';

/** Changes that are kept while a meter is disputed. Beyond it, disputed meters count as nested. */
const MAX_LOG = 65_536;

let turn = 0;
let isTurnEnding = false;

/** Returns a number that is equal in code that runs without an await or another turn of the event loop in between. */
function synchronousTurn(): number {
  if (!isTurnEnding) {
    isTurnEnding = true;
    queueMicrotask(() => {
      turn++;
      isTurnEnding = false;
    });
  }
  return turn;
}

export class MeterTree {
  readonly #task: MeteredTask;
  readonly #add: (label: string, seconds: number) => void;
  /** Innermost counting meters by label, and their number. */
  readonly #sharing = new Map<string, number>();
  #sharers = 0;
  /** Milliseconds on `performance.now()` up to which time has been divided. */
  #since = 0;
  readonly #disputed = new Set<TaskBlock>();
  /** Meters that opened or closed, and when, if that has not been applied. */
  #log: { readonly meter: TaskBlock; readonly at: number }[] = [];
  openMeters = 0;

  /** @param add receives the seconds of a label */
  constructor(task: MeteredTask, add: (label: string, seconds: number) => void) {
    this.#task = task;
    this.#add = add;
  }

  open(label: string, context: MeterScope, isBlock: boolean): MeterScope {
    const before = withoutClosed(context);
    const parent = innermost(before);
    const meter: TaskBlock = {
      label,
      isBlock,
      turn: synchronousTurn(),
      parent,
      open: true,
      disputed: undefined,
      isDisputed: false,
      counts: false,
      countedIn: undefined,
      inner: 0,
    };
    if (parent?.isBlock && parent.turn === meter.turn) this.#dispute(meter, parent);
    this.openMeters++;
    this.#change(meter);
    return { task: this.#task, meter, isInside: true, before };
  }

  /** Closes the meter of `inside`. Returns the context in which the closing code continues. */
  close(inside: MeterScope, context: MeterScope | undefined): MeterScope | undefined {
    const { meter } = inside;
    if (!meter?.open) return context;
    meter.open = false;
    this.openMeters--;
    // A block without an await had the thread alone.
    if (meter.isDisputed && meter.turn === synchronousTurn()) this.#nest(meter);
    this.#change(meter);
    const passed = passedSince(inside, context);
    this.#decide(meter, passed);
    if (this.#disputed.size === 0) this.#applyLog();
    return passed === undefined || meter.isDisputed ? context : inside.before;
  }

  /** Divides the time until now, unless a meter is disputed. */
  settle(): void {
    if (this.#disputed.size === 0) this.#divide(performance.now());
  }

  /**
   * Ends the task and its open meters. A meter that is still disputed was not inside the outer meter, because the outer
   * one has not ended: both run side by side.
   */
  end(): void {
    for (const meter of this.#disputed) meter.parent = meter.parent?.parent;
    this.#applyLog();
    this.#divide(performance.now());
  }

  #dispute(meter: TaskBlock, outer: TaskBlock): void {
    meter.isDisputed = true;
    meter.parent = outer;
    outer.disputed ??= [];
    outer.disputed.push(meter);
    this.#disputed.add(meter);
  }

  #settle(meter: TaskBlock): void {
    meter.isDisputed = false;
    this.#disputed.delete(meter);
  }

  /** Settles that a disputed meter is inside its parent. */
  #nest(meter: TaskBlock): void {
    this.#settle(meter);
    const rivals = meter.parent?.disputed;
    rivals?.splice(rivals.lastIndexOf(meter), 1);
  }

  /** Decides which disputed meters are inside `outer`, which has closed. `passed` is undefined if that is unknown. */
  #decide(outer: TaskBlock, passed: ReadonlySet<TaskBlock> | undefined): void {
    const { disputed, parent } = outer;
    if (disputed === undefined) return;
    outer.disputed = undefined;
    const beside: TaskBlock[] = [];
    for (const meter of disputed)
      if (passed === undefined || passed.has(meter)) this.#settle(meter);
      else beside.push(meter);
    for (const meter of beside) {
      meter.parent = parent;
      if (!outer.isDisputed) this.#settle(meter);
    }
    if (!outer.isDisputed || parent === undefined || beside.length === 0) return;
    // The shorter list is appended to the longer one, so that many meters side by side cost little.
    const rivals = parent.disputed ?? [];
    const [longer, shorter] = rivals.length < beside.length ? [beside, rivals] : [rivals, beside];
    for (const meter of shorter) longer.push(meter);
    parent.disputed = longer;
  }

  /** Applies that a meter opened or closed now. */
  #change(meter: TaskBlock): void {
    const at = performance.now();
    if (this.#disputed.size === 0 && this.#log.length === 0) {
      this.#apply(meter, at);
      return;
    }
    this.#log.push({ meter, at });
    if (this.#log.length >= MAX_LOG) this.#applyLog();
  }

  #applyLog(): void {
    if (this.#log.length === 0) return;
    for (const { meter, at } of this.#log) this.#apply(meter, at);
    this.#log = [];
  }

  #apply(meter: TaskBlock, at: number): void {
    this.#divide(at);
    if (meter.counts) {
      meter.counts = false;
      if (meter.inner === 0) this.#share(meter, -1);
      const outer = meter.countedIn;
      if (outer === undefined) return;
      outer.inner--;
      if (outer.inner === 0 && outer.counts) this.#share(outer, 1);
      return;
    }
    meter.counts = true;
    this.#share(meter, 1);
    if (!meter.parent?.counts) return;
    meter.countedIn = meter.parent;
    meter.parent.inner++;
    if (meter.parent.inner === 1) this.#share(meter.parent, -1);
  }

  #share({ label }: TaskBlock, change: 1 | -1): void {
    this.#sharers += change;
    const count = (this.#sharing.get(label) ?? 0) + change;
    if (count === 0) this.#sharing.delete(label);
    else this.#sharing.set(label, count);
  }

  /** Assigns the time since the last change to the meters that share it. */
  #divide(now: number): void {
    const share = (now - this.#since) / 1000 / this.#sharers;
    this.#since = now;
    for (const [label, count] of this.#sharing) this.#add(label, share * count);
  }
}

/** Returns the context without meters that have closed and are settled, so that the list of a loop does not grow. */
function withoutClosed(context: MeterScope): MeterScope {
  let scope = context;
  while (
    scope.meter !== undefined &&
    !scope.meter.open &&
    !scope.meter.isDisputed &&
    scope.before !== undefined
  )
    scope = scope.before;
  return scope;
}

/** Returns the innermost open meter of the code with this context. */
export function innermost(context: MeterScope): TaskBlock | undefined {
  for (let scope: MeterScope | undefined = context; scope !== undefined; scope = scope.before)
    if (scope.isInside && scope.meter?.open) return scope.meter;
  return undefined;
}

/** Returns the meters that `context` has passed since `inside`; undefined if it does not come from there. */
function passedSince(inside: MeterScope, context: MeterScope | undefined): Set<TaskBlock> | undefined {
  const passed = new Set<TaskBlock>();
  for (let scope = context; scope !== undefined; scope = scope.before) {
    if (scope === inside) return passed;
    if (scope.meter !== undefined) passed.add(scope.meter);
  }
  return undefined;
}

// The only owner of requestAnimationFrame. Code that changes the state of the page calls `request`; the page is then
// drawn once before the next repaint.

/**
 * Repaints after which the page is idle. Effects run after a repaint and can change the page: a new canvas requests
 * its first animation frame, then an analysis finishes, and then its result is drawn.
 */
const TURNS = 3;

export class AnimationFrames {
  readonly #draw: (time: number) => boolean;
  #scheduled = false;
  #waiting: (() => void)[] = [];
  #recent: number[] = [];

  /** `draw` returns true if it needs another animation frame, because a motion has not ended. */
  constructor(draw: (time: number) => boolean) {
    this.#draw = draw;
  }

  request(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame((time) => this.#run(time));
  }

  #run(time: number): void {
    this.#scheduled = false;
    const before = performance.now();
    const more = this.#draw(time);
    this.#recent.push(performance.now() - before);
    if (this.#recent.length > 240) this.#recent.shift();
    if (more) this.request();
    if (this.#scheduled) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when all effects have run and no animation frame is scheduled. For tests. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    if (!this.#scheduled) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Returns and clears the drawing times of the last animation frames (at most 240) in milliseconds, oldest first. */
  takeTimes(): number[] {
    const recent = this.#recent;
    this.#recent = [];
    return recent;
  }
}

/** Resolves after the next repaint and the effects that follow it. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

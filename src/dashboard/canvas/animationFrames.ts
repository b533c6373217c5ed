// The one owner of the animation frame. Whoever changes what is on the screen calls `request`; all of it is drawn once
// before the next repaint. `idle` tells a test when nothing is left to draw.

/**
 * Effects of what is shown run after it was painted, and they may show more: a canvas that is there now asks for its first
 * frame, an answer is looked for and shown, and what it shows is drawn. That takes so many turns.
 */
const TURNS = 3;

export class AnimationFrames {
  readonly #draw: (time: number) => boolean;
  #scheduled = false;
  #waiting: (() => void)[] = [];
  #recent: number[] = [];

  /** `draw` returns true if it wants another frame, because something still moves. */
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

  /** Resolves when what was shown has had its effects, and no frame is scheduled. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    if (!this.#scheduled) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Milliseconds of drawing of the last frames (at most 240), oldest first; forgets them. */
  takeTimes(): number[] {
    const recent = this.#recent;
    this.#recent = [];
    return recent;
  }
}

/** Resolves after the next repaint, behind the effects that wait for it. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

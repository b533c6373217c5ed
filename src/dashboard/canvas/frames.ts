// The one owner of the animation frame. Whoever changes what is on the screen calls `request`; all of it is drawn once
// before the next repaint. `idle` tells a test when nothing is left to draw.

export class Frames {
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

  /** Resolves when no frame is scheduled. */
  idle(): Promise<void> {
    if (!this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => {
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

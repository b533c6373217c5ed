// Translates pointer and wheel events into gestures in pixels, without reference to time or tasks.

export interface GestureHandler {
  /** Returns whether the wheel at x zooms; otherwise the page scrolls. */
  takesWheel(x: number): boolean;
  /** Moves the content by some px with the pointer. */
  dragBy(px: number): void;
  /** Zooms around x; `factor` < 1 zooms in. */
  zoomAt(x: number, factor: number, smooth: boolean): void;
  scrollBy(px: number): void;
  /** Receives the range in px during a selection; undefined if the selection ends or is cancelled. */
  selecting(range: { readonly from: number; readonly to: number } | undefined): void;
  selected(from: number, to: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(): void;
}

/** Largest movement between down and up that is a click, px. */
const CLICK_SLOP = 4;
/** One notch of a wheel (about 100 px) zooms by e^0.25. */
const WHEEL_ZOOM = 0.0025;

interface Pointer {
  x: number;
  y: number;
}

/**
 * Listens on `element`. Coordinates are relative to its box, even if the page is scrolled. Returns a function that
 * stops.
 */
export function listen(element: HTMLElement, handler: GestureHandler): () => void {
  const gestures = new Gestures(element, handler);
  const controller = new AbortController();
  const { signal } = controller;
  element.addEventListener('pointerdown', (event) => gestures.down(event), { signal });
  element.addEventListener('pointermove', (event) => gestures.move(event), { signal });
  element.addEventListener('pointerup', (event) => gestures.up(event), { signal });
  element.addEventListener('pointercancel', (event) => gestures.cancel(event), { signal });
  element.addEventListener('pointerleave', () => gestures.leave(), { signal });
  element.addEventListener('dblclick', () => handler.doubleClick(), { signal });
  element.addEventListener('wheel', (event) => gestures.wheel(event), { signal, passive: false });
  return () => controller.abort();
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, a') !== null;
}

class Gestures {
  readonly #element: HTMLElement;
  readonly #handler: GestureHandler;
  readonly #pointers = new Map<number, Pointer>();
  #mode: 'none' | 'press' | 'drag' | 'select' | 'pinch' = 'none';
  #origin: Pointer = { x: 0, y: 0 };

  constructor(element: HTMLElement, handler: GestureHandler) {
    this.#element = element;
    this.#handler = handler;
  }

  #at(event: MouseEvent): Pointer {
    const box = this.#element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  down(event: PointerEvent): void {
    if (event.button !== 0 || isControl(event.target)) return;
    const at = this.#at(event);
    this.#pointers.set(event.pointerId, at);
    this.#element.setPointerCapture(event.pointerId);
    this.#handler.leave();
    if (this.#pointers.size === 2) {
      this.#mode = 'pinch';
      this.#handler.selecting(undefined);
      return;
    }
    this.#origin = at;
    this.#mode = event.shiftKey ? 'select' : 'press';
  }

  move(event: PointerEvent): void {
    const at = this.#at(event);
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) {
      if (this.#pointers.size === 0) this.#handler.hover(at.x, at.y);
      return;
    }
    if (this.#mode === 'press' && Math.abs(at.x - this.#origin.x) > CLICK_SLOP) this.#mode = 'drag';
    if (this.#mode === 'pinch') this.#pinch(event.pointerId, before, at);
    else if (this.#mode === 'drag') this.#handler.dragBy(at.x - before.x);
    else if (this.#mode === 'select') this.#handler.selecting({ from: this.#origin.x, to: at.x });
    // A press keeps its start until it becomes a drag, so that the drag begins without a jump.
    if (this.#mode !== 'press') this.#pointers.set(event.pointerId, at);
  }

  #pinch(id: number, before: Pointer, at: Pointer): void {
    const other = [...this.#pointers].find(([otherId]) => otherId !== id)?.[1];
    if (other === undefined) return;
    const was = Math.max(20, Math.abs(before.x - other.x));
    const is = Math.max(20, Math.abs(at.x - other.x));
    this.#handler.zoomAt((at.x + other.x) / 2, was / is, false);
    this.#handler.dragBy((at.x - before.x) / 2);
  }

  up(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId)) return;
    const at = this.#at(event);
    const mode = this.#mode;
    this.#mode = 'none';
    if (mode === 'press') this.#handler.click(at.x, at.y);
    if (mode === 'select') {
      this.#handler.selecting(undefined);
      if (Math.abs(at.x - this.#origin.x) > CLICK_SLOP) {
        this.#handler.selected(Math.min(at.x, this.#origin.x), Math.max(at.x, this.#origin.x));
      }
    }
    if (event.pointerType !== 'touch') this.#handler.hover(at.x, at.y);
  }

  cancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.#mode = 'none';
    this.#handler.selecting(undefined);
  }

  leave(): void {
    if (this.#pointers.size === 0) this.#handler.leave();
  }

  wheel(event: WheelEvent): void {
    const at = this.#at(event);
    if (!this.#handler.takesWheel(at.x)) return;
    event.preventDefault();
    // Some mice report lines or pages instead of px.
    const unit = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.shiftKey && dx === 0) this.#handler.scrollBy(dy);
    else if (Math.abs(dx) > Math.abs(dy)) this.#handler.scrollBy(dx);
    else {
      // A pinch on a trackpad arrives as wheel events with ctrl, in much smaller steps.
      const speed = event.ctrlKey ? WHEEL_ZOOM * 4 : WHEEL_ZOOM;
      this.#handler.zoomAt(
        at.x,
        Math.exp(Math.max(-1, Math.min(1, dy * speed))),
        !event.ctrlKey && Math.abs(dy) >= 50,
      );
    }
  }
}

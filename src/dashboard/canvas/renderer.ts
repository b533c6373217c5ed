// The drawing operations of the plots. Drawing code uses only this interface, so that tests can record calls and
// another backend can replace the canvas. All coordinates are CSS pixels.

import { firstWhere } from '../../base/lookUps.js';
import { visibleName } from '../../base/visibleText.js';

export type Align = 'left' | 'center' | 'right';

export interface Renderer {
  /** Size of a device pixel; smaller differences are invisible. */
  readonly pixel: number;
  /** Clears the canvas and starts a picture of this size. */
  begin(width: number, height: number): void;
  /** Limits drawing to a rectangle until `unclip`. */
  clip(x: number, y: number, width: number, height: number): void;
  unclip(): void;
  /** Fills a rectangle whose edges are rounded to device pixels. `color` is a CSS colour. */
  rect(x: number, y: number, width: number, height: number, color: string): void;
  /** Draws an open line through x, y, x, y, … */
  line(points: readonly number[], color: string, width: number): void;
  /** Fills the surface between an open line and the height `base`. */
  area(points: readonly number[], base: number, color: string): void;
  dot(x: number, y: number, radius: number, color: string): void;
  /** Draws text around the height `y`. */
  text(text: string, x: number, y: number, color: string, align: Align): void;
  textWidth(text: string): number;
}

const FONT_SIZE = 11;
const FONT = `${FONT_SIZE}px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;

/** Draws on a canvas element, at the device's resolution. */
export class CanvasRenderer implements Renderer {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  #ratio = 1;
  #fill = '';
  /** Rectangles drawn since `begin`. */
  rectangles = 0;
  readonly #widths = new Map<string, number>();

  constructor(canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d');
    if (context === null) throw new TypeError('This browser does not support 2D canvases.');
    this.#canvas = canvas;
    this.#context = context;
  }

  get pixel(): number {
    return 1 / this.#ratio;
  }

  begin(width: number, height: number): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== deviceWidth || this.#canvas.height !== deviceHeight) {
      this.#canvas.width = deviceWidth;
      this.#canvas.height = deviceHeight;
    }
    this.#ratio = ratio;
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#context.clearRect(0, 0, width, height);
    this.#context.font = FONT;
    this.#context.textBaseline = 'middle';
    this.#context.lineJoin = 'round';
    this.#fill = '';
    this.rectangles = 0;
  }

  clip(x: number, y: number, width: number, height: number): void {
    this.#context.save();
    this.#context.beginPath();
    this.#context.rect(x, y, width, height);
    this.#context.clip();
  }

  unclip(): void {
    this.#context.restore();
    this.#fill = '';
  }

  rect(x: number, y: number, width: number, height: number, color: string): void {
    this.rectangles++;
    const left = this.#snap(x);
    const top = this.#snap(y);
    this.#setFill(color);
    this.#context.fillRect(left, top, this.#snap(x + width) - left, this.#snap(y + height) - top);
  }

  line(points: readonly number[], color: string, width: number): void {
    this.#path(points);
    this.#context.strokeStyle = color;
    this.#context.lineWidth = width;
    this.#context.stroke();
  }

  area(points: readonly number[], base: number, color: string): void {
    if (points.length < 4) return;
    this.#path(points);
    this.#context.lineTo(points[points.length - 2]!, base);
    this.#context.lineTo(points[0]!, base);
    this.#context.closePath();
    this.#setFill(color);
    this.#context.fill();
  }

  dot(x: number, y: number, radius: number, color: string): void {
    this.#context.beginPath();
    this.#context.arc(x, y, radius, 0, 2 * Math.PI);
    this.#setFill(color);
    this.#context.fill();
  }

  text(text: string, x: number, y: number, color: string, align: Align): void {
    this.#context.textAlign = align;
    this.#setFill(color);
    this.#context.fillText(text, x, y);
  }

  textWidth(text: string): number {
    const known = this.#widths.get(text);
    if (known !== undefined) return known;
    // Names recur in every animation frame, but the numbers of a long session must not fill the memory.
    if (this.#widths.size > 5000) this.#widths.clear();
    const { width } = this.#context.measureText(text);
    this.#widths.set(text, width);
    return width;
  }

  #snap(value: number): number {
    return Math.round(value * this.#ratio) / this.#ratio;
  }

  /** Sets fillStyle only if the colour changes, because the canvas parses the colour every time. */
  #setFill(color: string): void {
    if (this.#fill === color) return;
    this.#fill = color;
    this.#context.fillStyle = color;
  }

  #path(points: readonly number[]): void {
    this.#context.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) {
      if (i === 0) this.#context.moveTo(points[0]!, points[1]!);
      else this.#context.lineTo(points[i]!, points[i + 1]!);
    }
  }
}

/**
 * Returns the text with visible characters, cut to the width. An ellipsis replaces the end, or the start if `keep` is
 * 'end'. Returns an empty text if fewer than three letters fit.
 */
export function fitText(
  renderer: Renderer,
  name: string,
  width: number,
  keep: 'start' | 'end' = 'start',
): string {
  const text = visibleName(name);
  if (renderer.textWidth(text) <= width) return text;
  const cut = (length: number) =>
    keep === 'start' ? `${text.slice(0, length)}…` : `…${text.slice(text.length - length)}`;
  // A UTF-16 unit is at least about 2 px wide, so longer texts are not measured.
  const most = Math.min(text.length, Math.ceil(width / 2));
  const fits = firstWhere(1, most + 1, (length) => renderer.textWidth(cut(length)) > width) - 1;
  return fits < 3 ? '' : cut(fits);
}

// A renderer that records calls instead of drawing, for tests of the drawing code.
import type { Align, Renderer } from './renderer.js';

export interface DrawnRect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly color: string;
}

export class RecordingRenderer implements Renderer {
  readonly pixel = 1;
  readonly rects: DrawnRect[] = [];
  readonly lines: { readonly points: readonly number[]; readonly color: string }[] = [];
  readonly texts: { readonly text: string; readonly x: number; readonly y: number }[] = [];
  readonly dots: { readonly x: number; readonly y: number }[] = [];

  begin(): void {
    this.rects.length = 0;
    this.lines.length = 0;
    this.texts.length = 0;
    this.dots.length = 0;
  }

  clip(): void {}

  unclip(): void {}

  rect(x: number, y: number, width: number, height: number, color: string): void {
    this.rects.push({ x, y, width, height, color });
  }

  line(points: readonly number[], color: string): void {
    this.lines.push({ points: [...points], color });
  }

  area(): void {}

  dot(x: number, y: number): void {
    this.dots.push({ x, y });
  }

  text(text: string, x: number, y: number, _color: string, _align: Align): void {
    this.texts.push({ text, x, y });
  }

  /** Counts six px per letter. */
  textWidth(text: string): number {
    return text.length * 6;
  }
}

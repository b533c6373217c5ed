// The steps of the program on images: each one is made, stretched, blurred and described. The descriptions are merged.

const WIDTH = 640;
const HEIGHT = 480;
/** Pixels on each side of a pixel whose mean the blur takes. */
const RADIUS = 2;
const LEVELS = 256;

/** A picture in RGBA. */
export interface Image {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8ClampedArray;
}

export interface Stats {
  readonly images: number;
  readonly histogram: readonly number[];
}

/** Makes a picture of waves with some noise. */
export function synth(seed: number): Image {
  const pixels = new Uint8ClampedArray(4 * WIDTH * HEIGHT);
  let noise = seed + 1;
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) | 0;
      const at = 4 * (y * WIDTH + x);
      const wave = 128 + 100 * Math.sin((x * (1 + (seed % 7)) + y) / 40);
      pixels[at] = wave + (noise >>> 28);
      pixels[at + 1] = (x + seed) & 255;
      pixels[at + 2] = (y + seed) & 255;
      pixels[at + 3] = 255;
    }
  }
  return { width: WIDTH, height: HEIGHT, pixels };
}

/** Stretches a picture to the same size around its middle: twice as large, by bilinear interpolation. */
export function resize({ width, height, pixels }: Image): Image {
  const resized = new Uint8ClampedArray(pixels.length);
  for (let y = 0; y < height; y++) {
    const fromY = height / 4 + y / 2;
    const top = Math.floor(fromY);
    const down = fromY - top;
    for (let x = 0; x < width; x++) {
      const fromX = width / 4 + x / 2;
      const left = Math.floor(fromX);
      const right = fromX - left;
      const from = 4 * (top * width + left);
      const below = from + 4 * width;
      const at = 4 * (y * width + x);
      for (let channel = 0; channel < 4; channel++) {
        const upper = pixels[from + channel]! * (1 - right) + pixels[from + 4 + channel]! * right;
        const lower = pixels[below + channel]! * (1 - right) + pixels[below + 4 + channel]! * right;
        resized[at + channel] = upper * (1 - down) + lower * down;
      }
    }
  }
  return { width, height, pixels: resized };
}

/** Replaces each pixel by the mean of its neighbours in its row. */
export function blur({ width, height, pixels }: Image): Image {
  const blurred = new Uint8ClampedArray(pixels.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const first = Math.max(0, x - RADIUS);
      const last = Math.min(width - 1, x + RADIUS);
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let near = first; near <= last; near++) sum += pixels[4 * (y * width + near) + channel]!;
        blurred[4 * (y * width + x) + channel] = sum / (last - first + 1);
      }
    }
  }
  return { width, height, pixels: blurred };
}

/** Counts the levels of brightness. */
export function stats({ pixels }: Image): Stats {
  const histogram = new Array<number>(LEVELS).fill(0);
  for (let at = 0; at < pixels.length; at += 4) {
    const level = (pixels[at]! * 77 + pixels[at + 1]! * 150 + pixels[at + 2]! * 29) >> 8;
    histogram[level] = (histogram[level] ?? 0) + 1;
  }
  return { images: 1, histogram };
}

export function merge(parts: readonly Stats[]): Stats {
  const histogram = new Array<number>(LEVELS).fill(0);
  let images = 0;
  for (const part of parts) {
    images += part.images;
    for (const [level, count] of part.histogram.entries()) histogram[level] = (histogram[level] ?? 0) + count;
  }
  return { images, histogram };
}

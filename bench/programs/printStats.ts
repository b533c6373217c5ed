import type { Stats } from './imageSteps.js';

export function printStats({ images, histogram }: Stats): void {
  const level = histogram.indexOf(Math.max(...histogram));
  console.log(`${images} images, most pixels have level ${level}`);
}

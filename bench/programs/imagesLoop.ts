// The program of images.js as a loop: node imagesLoop.js [IMAGES [ROUNDS]]
import { blur, merge, resize, type Stats, stats, synth } from './imageSteps.js';
import { printStats } from './printStats.js';

const [images = '200', rounds = '1'] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round++) {
  const parts: Stats[] = [];
  for (let seed = 0; seed < Number(images); seed++) parts.push(stats(blur(resize(synth(seed)))));
  printStats(merge(parts));
}

// Draws the README's picture anew: runs the demo, opens its page in Chromium, and photographs it.
//
//   npm run build && node scripts/picture.mjs
//
// Needs Chromium: /usr/bin/chromium, or the path in CHROMIUM.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const picture = join(root, 'docs/images/profile.png');
const folder = mkdtempSync(join(tmpdir(), 'longpole-picture-'));
try {
  const page = join(folder, 'demo.html');
  execFileSync(process.execPath, ['dist/cli/main.js', 'demo', '--page', page], {
    cwd: root,
    stdio: 'inherit',
  });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const tab = await browser.newPage({ viewport: { width: 1200, height: 720 }, colorScheme: 'light' });
    await tab.goto(pathToFileURL(page).href);
    await tab.locator('canvas').first().waitFor();
    // Two frames: the first one lays out, the second one has drawn.
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    mkdirSync(join(root, 'docs/images'), { recursive: true });
    await tab.screenshot({ path: picture });
  } finally {
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(picture);

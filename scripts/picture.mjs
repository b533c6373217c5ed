// Draws the pictures of README and docs in Chromium: the page of the demo, and the dashboard of a busy cluster.
//
//   npm run build && node scripts/picture.mjs [profile] [dashboard]
//
// Needs Chromium: /usr/bin/chromium, or the path in CHROMIUM.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const images = join(root, 'docs/images');
const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'longpole-picture-'));

async function photograph(tab, name) {
  const path = join(images, `${name}.png`);
  await tab.screenshot({ path });
  console.log(path);
}

async function pictureOfDemo(tab) {
  const page = join(folder, 'demo.html');
  execFileSync(process.execPath, ['dist/cli/main.js', 'demo', '--page', page], {
    cwd: root,
    stdio: 'inherit',
  });
  await tab.goto(pathToFileURL(page).href);
  await tab.locator('canvas').first().waitFor();
  // Waits two animation frames: the first one lays the page out, the second one draws it.
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await photograph(tab, 'profile');
}

/** A program with content for every panel: arrays, a tree of sums, waiting, and a task that fails. */
async function work(client, { delayed, span }) {
  const load = delayed(function load(seed) {
    const values = new Float64Array(400_000);
    for (let i = 0, x = seed + 1; i < values.length; i++) {
      x = (x * 16807) % 2147483647;
      values[i] = x / 2147483647;
    }
    return values;
  });
  const normalize = delayed(function normalize(values) {
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    return values.map((x) => x - mean);
  });
  const fit = delayed(function fit(values) {
    function error(k) {
      let sum = 0;
      for (let i = 0; i < values.length; i++) sum += Math.sin(values[i] * k);
      return sum;
    }
    return Math.min(error(1), error(2), error(3));
  });
  const fetchPage = delayed(async function fetchPage(i) {
    await new Promise((done) => setTimeout(done, 20 + (i % 5) * 10));
    return i;
  });
  const sum = delayed(function sum(values) {
    return values.reduce((total, x) => total + x, 0);
  });
  const held = await span('load', () =>
    client.persist(Array.from({ length: 48 }, (_, i) => normalize(load(i)))),
  );
  const fits = await span('fit', () => client.persist(held.map((values) => fit(values))));
  const pages = Array.from({ length: 60 }, (_, i) => fetchPage(i));
  await client.compute([sum(fits), sum(pages)]);
}

async function picturesOfDashboard(tab) {
  const longpole = await import(pathToFileURL(join(root, 'dist/api/index.js')).href);
  const cluster = await longpole.LocalCluster.start({
    workers: 4,
    memoryLimit: '200MB',
    dashboard: { port: 0 },
  });
  const client = await longpole.connect(cluster);
  try {
    await tab.goto(`${cluster.dashboardLink}#status`);
    await tab.locator('main.page[data-status="live"]').waitFor();
    const done = work(client, longpole);
    // Task rows arrive later than sums, so wait until the task stream has some.
    const isBusy = () =>
      document.querySelectorAll('section[aria-label="Progress"] li').length >= 4 &&
      [...document.querySelectorAll('.facts li')].some((fact) =>
        /^\d{3}\sms|^[\d.]+\ss/.test(fact.textContent),
      );
    await tab.waitForFunction(isBusy);
    await photograph(tab, 'dashboard');
    await done;
    const file = join(folder, 'report.html');
    await client.profile({ filename: file });
    await tab.goto(pathToFileURL(file).href);
    await tab.locator('section.functions table').waitFor();
    await photograph(tab, 'dashboard-profile');
  } finally {
    await client.close();
    await cluster.close();
  }
}

try {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  mkdirSync(images, { recursive: true });
  try {
    const tab = await browser.newPage({ viewport: { width: 1200, height: 720 }, colorScheme: 'light' });
    if (wanted.length === 0 || wanted.includes('profile')) await pictureOfDemo(tab);
    if (wanted.length === 0 || wanted.includes('dashboard')) await picturesOfDashboard(tab);
  } finally {
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

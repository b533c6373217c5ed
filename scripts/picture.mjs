// Takes the pictures of README and docs/ in Chromium. scripts/lib/pictures.mjs lists them with the pages that show them.
//
//   npm run build && node scripts/picture.mjs [NAME…]
//
// Needs Chromium: /usr/bin/chromium, or the path in CHROMIUM.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { withPalette } from './lib/palettePng.mjs';
import { fail, pipelineOfGuide, work, workInPasses } from './lib/pictureProgram.mjs';
import { HEIGHT, MAX_BYTES, PICTURES, WIDTH } from './lib/pictures.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const images = join(root, 'docs/images');
const folder = mkdtempSync(join(tmpdir(), 'longpole-picture-'));
/** Colours of a picture: as many as its size allows. */
const COLORS = [256, 64, 32];
const names = process.argv.slice(2);
const unknown = names.filter((name) => !PICTURES.some((picture) => picture.name === name));
if (unknown.length > 0) throw new Error(`scripts/lib/pictures.mjs has no picture ${unknown.join(', ')}`);
const wanted = PICTURES.filter(({ name }) => names.length === 0 || names.includes(name));
const wants = (of) => wanted.filter((picture) => picture.of === of);

const imported = (file) => import(pathToFileURL(join(root, 'dist/bundle', file)).href);
const longpole = (...args) =>
  execFileSync(process.execPath, [join(root, 'dist/bundle/main.js'), ...args], {
    cwd: root,
    stdio: 'inherit',
  });

async function photograph(tab, { name }) {
  // Waits two animation frames: the first one lays the page out, the second one draws it.
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const png = await tab.screenshot();
  const picture = COLORS.map((colors) => withPalette(png, colors)).find(({ length }) => length <= MAX_BYTES);
  if (picture === undefined) throw new Error(`${name}.png has more than ${MAX_BYTES} bytes`);
  const path = join(images, `${name}.png`);
  writeFileSync(path, picture);
  console.log(`${path}: ${Math.round(picture.length / 1000)} kB`);
}

/** Opens a file once for each picture of it. */
async function picturesOf(tab, of, file) {
  for (const picture of wants(of)) {
    await tab.setViewportSize({ width: picture.width ?? WIDTH, height: picture.height ?? HEIGHT });
    await tab.goto('about:blank');
    await tab.goto(pathToFileURL(file).href + (picture.address ?? ''));
    await tab
      .locator(picture.ready ?? 'main')
      .first()
      .waitFor();
    await photograph(tab, picture);
  }
}

async function pictureOfDemo(tab) {
  const page = join(folder, 'demo.html');
  longpole('demo', '--page', page);
  await picturesOf(tab, 'demo', page);
}

/** Takes the picture of the page that the program of docs/get-started.md writes. */
async function pictureOfProgram(tab) {
  const [, program] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'docs/get-started.md'), 'utf8'));
  // Below dist/, the program finds this package by its name.
  const inPackage = mkdtempSync(join(root, 'dist/picture-'));
  try {
    writeFileSync(join(inPackage, 'primes.mjs'), program);
    execFileSync(process.execPath, ['primes.mjs'], { cwd: inPackage, stdio: 'inherit' });
    await picturesOf(tab, 'program', join(inPackage, 'profile.html'));
  } finally {
    rmSync(inPackage, { recursive: true, force: true });
  }
}

/** Takes the pictures of the program whose summary docs/name-the-long-pole.md shows. */
async function picturesOfExample(tab) {
  const file = join(folder, 'example.html');
  const program = ['dist/examples/tsqr/main.js', '--rows', '2000', '--columns', '100'];
  longpole('run', '--no-dashboard', '--report', file, ...program);
  await picturesOf(tab, 'example', file);
}

async function withCluster(action) {
  const { connect, LocalCluster, ...others } = await imported('index.js');
  const cluster = await LocalCluster.start({ workers: 4, memoryLimit: '200MB', dashboard: { port: 0 } });
  const client = await connect(cluster);
  try {
    await action({ client, cluster, ...others });
  } finally {
    await client.close();
    await cluster.close();
  }
}

/** Takes the picture of a dashboard while its cluster works. */
async function pictureOfDashboard(tab) {
  await withCluster(async ({ client, cluster, ...others }) => {
    await tab.goto(`${cluster.dashboardLink}#status`);
    await tab.locator('main.page[data-status="live"]').waitFor();
    const done = work(client, others, 8);
    // Task rows and CPU samples arrive later than sums, so wait until the page shows a second of tasks and the CPU.
    const isBusy = () =>
      document.querySelectorAll('section[aria-label="Progress"] li').length >= 4 &&
      [...document.querySelectorAll('.facts li')].some((fact) => /^[\d.]+\ss/.test(fact.textContent)) &&
      / %/.test(document.querySelector('section[aria-label="Occupancy and CPU"]').textContent);
    await tab.waitForFunction(isBusy);
    for (const picture of wants('live')) await photograph(tab, picture);
    await done;
  });
}

async function picturesOfReport(tab) {
  const file = join(folder, 'report.html');
  await withCluster(async ({ client, performanceReport, ...others }) => {
    await performanceReport({ client, filename: file }, async () => {
      await work(client, others);
      await fail(client, others);
    });
  });
  await picturesOf(tab, 'report', file);
}

async function pictureOfDiff(tab) {
  for (const [name, rounds] of [
    ['before', 3],
    ['after', 9],
  ]) {
    await withCluster(async ({ client, ...others }) => {
      const stop = client.record(join(folder, `${name}.trace`));
      await work(client, others, rounds);
      await stop();
    });
  }
  const file = join(folder, 'diff.html');
  longpole('diff', join(folder, 'before.trace'), join(folder, 'after.trace'), '--page', file);
  await picturesOf(tab, 'diff', file);
}

async function pictureOfMemory(tab) {
  const file = join(folder, 'memory.html');
  const { MemorySampler } = await imported('index.js');
  const sampler = new MemorySampler();
  const sampled = (label, compute) =>
    withCluster(async ({ client, ...others }) => {
      const sampling = sampler.sample(label, { client, interval: 0.05, measure: 'managed' });
      await compute(client, others);
      await sampling[Symbol.asyncDispose]();
    });
  await sampled('all results kept', work);
  await sampled('in four passes', workInPasses);
  sampler.plot({ align: true, filename: file });
  await picturesOf(tab, 'memory', file);
}

async function pictureOfPipeline(tab) {
  const file = join(folder, 'pipeline.html');
  pipelineOfGuide(await imported('trace.js')).visualize({ filename: file });
  await picturesOf(tab, 'pipeline', file);
}

const SCENES = {
  demo: pictureOfDemo,
  program: pictureOfProgram,
  example: picturesOfExample,
  live: pictureOfDashboard,
  report: picturesOfReport,
  diff: pictureOfDiff,
  memory: pictureOfMemory,
  pipeline: pictureOfPipeline,
};

try {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  mkdirSync(images, { recursive: true });
  try {
    const tab = await browser.newPage({
      viewport: { width: WIDTH, height: HEIGHT },
      deviceScaleFactor: 2,
      colorScheme: 'light',
    });
    for (const [of, take] of Object.entries(SCENES)) if (wants(of).length > 0) await take(tab);
  } finally {
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

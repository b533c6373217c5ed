// The program of logs.js on piscina: node logsPiscina.js FOLDER. Each file is one task, and the main program merges.
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { logFiles } from './logFiles.js';
import { type Groups, join, merge, top } from './logSteps.js';
import { COUNT, printTop } from './printTop.js';

const WORKERS = 2;

const { logs, users } = logFiles(process.argv[2] ?? '');
const filename = fileURLToPath(new URL('logsPiscinaTask.js', import.meta.url));
const pool = new Piscina({ filename, minThreads: WORKERS, maxThreads: WORKERS });
const groups: Groups[] = await Promise.all(logs.map((file) => pool.run(file)));
printTop(top(await join(merge(groups), users), COUNT));
await pool.destroy();

// The shortest program on piscina: node piscina.js WORKERS
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';

const workers = Number(process.argv[2]);
const filename = fileURLToPath(new URL('piscinaTask.js', import.meta.url));
const pool = new Piscina({ filename, minThreads: workers, maxThreads: workers });
console.log(await pool.run(0));
await pool.destroy();

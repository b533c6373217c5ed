// Writes log files of 1 MB and the file of their users: node makeLogs.js FOLDER [FILES]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE_BYTES = 1e6;
const USERS = 2000;
const COUNTRIES = ['at', 'br', 'de', 'fr', 'in', 'jp', 'ke', 'us'];
const STATUSES = [200, 200, 200, 200, 304, 404, 500];

let state = 1;
/** Returns a whole number from 0 to `limit` - 1. The sequence is the same in every run. */
function random(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return (state >>> 8) % limit;
}

const [folder = '', files = '100'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const users = Array.from(
  { length: USERS },
  (_, user) => `user${user},${COUNTRIES[random(COUNTRIES.length)]}`,
);
writeFileSync(join(folder, 'users.csv'), users.join('\n'));
for (let file = 0; file < Number(files); file++) {
  const lines: string[] = [];
  for (let bytes = 0; bytes < FILE_BYTES; ) {
    const user = Math.min(random(USERS), random(USERS));
    const time = `25/Nov/2026:13:${random(60)}:${random(60)}`;
    const status = STATUSES[random(STATUSES.length)];
    const request = `"GET /item/${random(5000)}" ${status} ${random(90_000)}`;
    const line = `10.0.${random(256)}.${random(256)} user${user} [${time}] ${request}`;
    lines.push(line);
    bytes += line.length + 1;
  }
  writeFileSync(join(folder, `${String(file).padStart(3, '0')}.log`), lines.join('\n'));
}

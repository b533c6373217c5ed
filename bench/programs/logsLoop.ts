// The program of logs.js as a loop: node logsLoop.js FOLDER
import { logFiles } from './logFiles.js';
import { type Groups, group, join, merge, parse, top } from './logSteps.js';
import { COUNT, printTop } from './printTop.js';

const { logs, users } = logFiles(process.argv[2] ?? '');
const groups: Groups[] = [];
for (const file of logs) groups.push(group(await parse(file)));
printTop(top(await join(merge(groups), users), COUNT));

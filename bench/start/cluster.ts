// The shortest program on a cluster: node cluster.js threads|processes WORKERS
import { connect } from 'longpole';
import { startTasks } from './startTasks.js';

const [kind, workers] = process.argv.slice(2);
const client = await connect({ workers: Number(workers), processes: kind === 'processes' });
console.log(await client.submit(startTasks.inc, 0).result());
await client.close();

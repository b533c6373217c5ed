// The shortest program on a Dask cluster: node dask.js ADDRESS
import { connect } from 'longpole';
import { startTasks } from './startTasks.js';

const client = await connect(process.argv[2] ?? '');
console.log(await client.submit(startTasks.inc, 0).result());
await client.close();
